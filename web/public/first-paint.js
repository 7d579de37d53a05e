// Runs before the first paint. A file of its own because the content security policy allows no inline script.

/** What this browser keeps under a name; null where storage is blocked. */
const readKept = (name) => {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
};

// A dark page never flashes white.
(() => {
  const choice = readKept('bakehouse.theme') ?? 'system';
  const dark =
    choice === 'dark' || (choice !== 'light' && matchMedia('(prefers-color-scheme: dark)').matches);
  document.documentElement.dataset.theme = dark ? 'dark' : 'light';
  document.querySelector('meta[name="theme-color"]')?.setAttribute('content', dark ? '#141210' : '#fbfaf7');
})();

// styles.css keeps the scrollbar's place free, so that nothing moves when it comes or goes. Zooming changes its width.
(() => {
  let known;
  function measure() {
    const box = document.createElement('div');
    box.style.cssText = 'position: absolute; visibility: hidden; width: 100px; overflow: scroll';
    document.documentElement.append(box);
    const width = box.offsetWidth - box.clientWidth;
    box.remove();
    // A change of it makes the browser look at every style again.
    if (width !== known) document.documentElement.style.setProperty('--scrollbar', `${width}px`);
    known = width;
  }
  measure();
  addEventListener('resize', measure);
})();

// What the screen that comes first needs is fetched along with the app's code: its own, whose files the build lists,
// and who is signed in.
(() => {
  if (!document.currentScript.dataset.screens) return;
  function fetchEarly(attributes) {
    document.head.append(Object.assign(document.createElement('link'), attributes));
  }
  const screens = JSON.parse(document.currentScript.dataset.screens);
  const path = location.pathname;
  // What a visitor sees instead of a page that needs a session.
  let files = screens.landing;
  if (/^\/(docs|share\/)/.test(path)) files = [];
  if (screens.generators.includes(path.replace(/^\/bakery/, '').slice(1))) files = screens.generator;
  if (readKept('bakehouse.session') === 'expected') {
    files = screens.app;
    fetchEarly({ rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: '/api/v1/session' });
  }
  for (const href of files) fetchEarly({ rel: 'modulepreload', fetchPriority: 'low', href });
})();

// What the build has written of the screen into the HTML is painted until the app paints it.
(() => {
  function nameFrame(address) {
    const { pathname, search } = location;
    // These pages have no sidebar.
    const hasShell = !/\/(dataset|market|model)$/.test(pathname);
    if (readKept('bakehouse.session') === 'expected') return hasShell ? 'shell-frame' : null;
    // The address may ask for another form, and a chosen theme has other pictures.
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
