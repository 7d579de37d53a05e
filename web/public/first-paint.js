// Runs before the first paint. A separate file because the content security policy forbids inline scripts.

/** Returns a stored value; null if storage is blocked. */
const readKept = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

// Apply the theme early, so that dark pages don't flash white.
(() => {
  const choice = readKept('bakehouse.theme') ?? 'system';
  const dark =
    choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', dark ? '#141210' : '#fbfaf7');
})();

// styles.css reserves the scrollbar's width to avoid layout shifts. Zooming changes that width.
(() => {
  let known;
  function measure() {
    const box = document.createElement('div');
    box.style.cssText = 'position: absolute; visibility: hidden; width: 100px; overflow: scroll';
    document.documentElement.append(box);
    const width = box.offsetWidth - box.clientWidth;
    box.remove();
    // Setting the property recalculates all styles, so skip unchanged values.
    if (width !== known) document.documentElement.style.setProperty('--scrollbar', `${width}px`);
    known = width;
  }
  measure();
  addEventListener('resize', measure);
})();

// Load the first screen's chunks, listed by the build, and the session in parallel with the app's code.
(() => {
  if (!document.currentScript.dataset.screens) return;
  function fetchEarly(attributes) {
    document.head.append(Object.assign(document.createElement('link'), attributes));
  }
  const screens = JSON.parse(document.currentScript.dataset.screens);
  const path = location.pathname;
  // Pages that need a session redirect visitors to the landing page.
  let files = screens.landing;
  if (/^\/(docs|share\/)/.test(path)) files = [];
  if (screens.generators.includes(path.replace(/^\/bakery/, '').slice(1))) files = screens.generator;
  if (readKept('bakehouse.session') === 'expected') {
    files = screens.app;
    fetchEarly({ rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: '/api/v1/session' });
  }
  for (const href of files) fetchEarly({ rel: 'modulepreload', fetchPriority: 'low', href });
})();

// Show the prerendered frame until the app renders.
(() => {
  function nameFrame(address) {
    const { pathname, search } = location;
    // These pages have no sidebar.
    const hasShell = !/\/(dataset|market|model)$/.test(pathname);
    if (readKept('bakehouse.session') === 'expected') return hasShell ? 'shell-frame' : null;
    // The search may select another form, and an explicit theme has other pictures.
    const isAsWritten = search === '' && (readKept('bakehouse.theme') ?? 'system') === 'system';
    return pathname === address && isAsWritten ? 'page-frame' : null;
  }
  class FirstFrame extends HTMLElement {
    connectedCallback() {
      const frame = nameFrame(this.dataset.address);
      if (frame) document.getElementById('root').append(document.getElementById(frame).content);
    }
  }
  customElements.define('first-frame', FirstFrame);
})();
