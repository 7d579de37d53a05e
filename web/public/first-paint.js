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
