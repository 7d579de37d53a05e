const TIMEOUT_MS = 5_000;

/**
 * Returns true if the server now serves another build than the running one; null if unknown. The entry
 * script's name contains a hash of the whole build.
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
