const TIMEOUT_MS = 5_000;

/**
 * Whether the server now gives out another build than the one that runs here; null where it does not say. The
 * name of the entry script carries a hash over the whole build.
 */
export async function isOutdated(): Promise<boolean | null> {
  const entry = document.querySelector('script[type="module"][src]')?.getAttribute('src');
  if (!entry) return null;
  try {
    const response = await fetch('/', {
      cache: 'no-store',
      headers: { accept: 'text/html' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    return response.ok ? !(await response.text()).includes(`"${entry}"`) : null;
  } catch {
    return null;
  }
}
