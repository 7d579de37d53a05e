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
  function measure() {
    const box = document.createElement('div');
    box.style.cssText = 'position: absolute; visibility: hidden; width: 100px; overflow: scroll';
    document.documentElement.append(box);
    document.documentElement.style.setProperty('--scrollbar', `${box.offsetWidth - box.clientWidth}px`);
    box.remove();
  }
  measure();
  addEventListener('resize', measure);
})();
