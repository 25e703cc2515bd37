// Table of contents: collapsed on phones; on wide screens the section in view is marked.

const menu = byId("page-menu");
const nav = byId("page-nav");

if (menu) {
  function openMenu(open) {
    menu.setAttribute("aria-expanded", String(open));
    nav.classList.toggle("open", open);
  }

  menu.addEventListener("click", () => openMenu(menu.getAttribute("aria-expanded") !== "true"));
  nav.addEventListener("click", (event) => event.target.closest("a") && openMenu(false));
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && nav.classList.contains("open")) {
      openMenu(false);
      menu.focus();
    }
  });

  const seen = new Set();
  const watcher = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        if (entry.isIntersecting) seen.add(entry.target.id);
        else seen.delete(entry.target.id);
      }
      const links = [...nav.querySelectorAll("a")];
      const here = links.filter((link) => seen.has(link.hash.slice(1))).pop();
      for (const link of links) {
        if (link === here) link.setAttribute("aria-current", "location");
        else link.removeAttribute("aria-current");
      }
    },
    { rootMargin: "-15% 0px -75% 0px" },
  );
  for (const room of document.querySelectorAll("section.room")) watcher.observe(room);
}
