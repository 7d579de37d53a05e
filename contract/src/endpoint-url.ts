type Scalar = string | number | boolean | null | undefined;

/**
 * Fills `:name` and a trailing `*` of an endpoint's path and appends the query. Each segment is
 * percent-encoded; slashes of a `*` stay. Null and undefined query values are omitted. Throws if a parameter
 * is missing.
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
