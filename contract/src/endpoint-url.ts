type Scalar = string | number | boolean | null | undefined;

/**
 * Returns an endpoint's path with its parameters and query filled in. Parameters are `:name` and a trailing
 * `*`. Each segment is percent-encoded, except the slashes of a `*`. Query values that are null or undefined
 * are omitted. Throws if a parameter is missing.
 */
export function endpointUrl(path: string, params: object = {}, query: object = {}): string {
  const values = new Map<string, Scalar>(Object.entries(params));
  const filled = path.replace(/:(\w+)|\*$/g, (match, name: string | undefined) => {
    const value = values.get(name ?? '*');
    if (value === undefined || value === null || value === '')
      throw new Error(`Missing ${match} for ${path}`);
    return name ? encodeURIComponent(value) : String(value).split('/').map(encodeURIComponent).join('/');
  });
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query) as [string, Scalar][]) {
    if (value !== undefined && value !== null) search.set(name, String(value));
  }
  return search.size > 0 ? `${filled}?${search.toString()}` : filled;
}
