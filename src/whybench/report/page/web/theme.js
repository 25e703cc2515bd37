// Light or dark theme: the reader's last choice, otherwise the system's. Runs before the page is drawn.
"use strict";
(() => {
  const root = document.documentElement;
  const stored = () => {
    try {
      return localStorage.getItem("whybench-theme");
    } catch {
      return null; // pages opened from disk may have no storage
    }
  };
  const chosen = stored();
  if (chosen === "light" || chosen === "dark") root.dataset.theme = chosen;
  document.addEventListener("DOMContentLoaded", () => {
    document.getElementById("page-theme").addEventListener("click", () => {
      const dark = matchMedia("(prefers-color-scheme: dark)").matches;
      const now = root.dataset.theme || (dark ? "dark" : "light");
      root.dataset.theme = now === "dark" ? "light" : "dark";
      try {
        localStorage.setItem("whybench-theme", root.dataset.theme);
      } catch {
        // the choice then lasts until the page is closed
      }
    });
  });
})();
