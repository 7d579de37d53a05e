// Runs before the first paint. A file of its own because the content security policy allows no inline script.

// A dark page never flashes white.
(() => {
  let choice = 'system';
  try {
    choice = localStorage.getItem('bakehouse.theme') ?? 'system';
  } catch {
    // Storage is blocked: follow the system.
  }
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
  if (path.startsWith('/docs')) files = [];
  if (screens.generators.includes(path.replace(/^\/bakery/, '').slice(1))) files = screens.generator;
  try {
    if (localStorage.getItem('bakehouse.session') === 'expected') {
      files = screens.app;
      fetchEarly({ rel: 'preload', as: 'fetch', crossOrigin: 'anonymous', href: '/api/auth/get-session' });
    }
  } catch {
    // Storage is blocked: nobody is expected.
  }
  for (const href of files) fetchEarly({ rel: 'modulepreload', href });
})();
