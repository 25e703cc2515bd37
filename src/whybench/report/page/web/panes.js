// Boxes for graphs with one shared view: buttons, keys, wheel and drag move and zoom them together.

const ROOMY = { width: 380, height: 260 }; // a small graph is not enlarged beyond this

/** `broad`: how many times as broad as usual the box is. */
function sharedView(layout, broad) {
  const width = Math.max(layout.width, ROOMY.width * broad);
  const height = Math.max(layout.height, ROOMY.height);
  const [x, y] = [layout.left + (layout.width - width) / 2, layout.top + (layout.height - height) / 2];
  const whole = { x, y, width, height };
  const frames = [];
  let now = { ...whole };
  const show = () => {
    for (const frame of frames) {
      frame.setAttribute("viewBox", `${now.x} ${now.y} ${now.width} ${now.height}`);
      frame.classList.toggle("zoomed", now.width < whole.width * 0.95);
    }
  };
  const move = (dx, dy) => {
    const [x, y] = [now.x + dx, now.y + dy];
    now.x = Math.min(Math.max(x, whole.x - now.width / 2), whole.x + whole.width - now.width / 2);
    now.y = Math.min(Math.max(y, whole.y - now.height / 2), whole.y + whole.height - now.height / 2);
    show();
  };
  const zoom = (factor, fx = 0.5, fy = 0.5) => {
    const least = Math.min(160, whole.width);
    const width = Math.min(Math.max(now.width / factor, least), whole.width * 1.25);
    const height = (width / whole.width) * whole.height;
    now = { x: now.x + (now.width - width) * fx, y: now.y + (now.height - height) * fy, width, height };
    move(0, 0);
  };
  const reset = () => {
    now = { ...whole };
    show();
  };
  const centre = ({ x, y }) => {
    if (now.width < whole.width) move(x - now.x - now.width / 2, y - now.y - now.height / 2);
  };
  const scale = (frame) => Math.max(now.width / frame.clientWidth, now.height / frame.clientHeight);
  const add = (frame) => {
    frames.push(frame);
    frame.style.aspectRatio = `${whole.width} / ${whole.height}`;
    steer(frame, { move, zoom, reset, scale });
    show();
  };
  return { add, zoom, reset, centre };
}

function steer(frame, view) {
  let held = null;
  frame.addEventListener("pointerdown", (event) => {
    held = { x: event.clientX, y: event.clientY, moved: false };
  });
  frame.addEventListener("pointermove", (event) => {
    if (!held || !event.buttons) return;
    const [dx, dy] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.moved && Math.hypot(dx, dy) < 4) return;
    if (!held.moved) frame.setPointerCapture(event.pointerId);
    held = { x: event.clientX, y: event.clientY, moved: true };
    view.move(-dx * view.scale(frame), -dy * view.scale(frame));
  });
  for (const name of ["pointerup", "pointercancel"]) {
    frame.addEventListener(name, () => (held = null));
  }
  frame.addEventListener(
    "wheel",
    (event) => {
      if (document.activeElement !== frame && !event.ctrlKey) return; // let the page scroll
      event.preventDefault();
      const box = frame.getBoundingClientRect();
      const [fx, fy] = [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
      view.zoom(event.deltaY < 0 ? 1.2 : 1 / 1.2, fx, fy);
    },
    { passive: false },
  );
  frame.addEventListener("keydown", (event) => {
    const far = 40 * view.scale(frame);
    const way = { ArrowLeft: [-far, 0], ArrowRight: [far, 0], ArrowUp: [0, -far], ArrowDown: [0, far] };
    if (event.shiftKey && way[event.key]) view.move(...way[event.key]);
    else if (event.key === "+" || event.key === "=") view.zoom(1.3);
    else if (event.key === "-") view.zoom(1 / 1.3);
    else if (event.key === "0") view.reset();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
}
