import * as z from 'zod';

/** Parses comma-separated `name=address` overrides of the default addresses. */
export function namedUrls<Urls extends Record<string, string>>(
  usual: Urls,
  example: keyof Urls & string,
): (text: string, context: z.core.$RefinementCtx) => Urls {
  return (text, context) => {
    const entries = text.split(',').map((entry) => entry.trim());
    const given = entries.filter(Boolean).map((entry) => {
      const [name = '', ...rest] = entry.split('=');
      const url = rest.join('=');
      if (!Object.hasOwn(usual, name) || !z.url({ protocol: /^https?$/ }).safeParse(url).success)
        context.addIssue(
          `must be such as ${example}=${usual[example]}, of ${Object.keys(usual).join(', ')}, not '${entry}'`,
        );
      return [name, url] as const;
    });
    return { ...usual, ...Object.fromEntries(given.map(([name, url]) => [name, url.replace(/\/+$/, '')])) };
  };
}
