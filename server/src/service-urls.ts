import * as z from 'zod';

/** Where each service answers. */
export const serviceUrls = {
  stripe: 'https://api.stripe.com',
  fal: 'https://queue.fal.run',
  replicate: 'https://api.replicate.com',
  bfl: 'https://api.bfl.ai',
  ark: 'https://ark.ap-southeast.bytepluses.com',
  google: 'https://generativelanguage.googleapis.com',
  x: 'https://api.x.com',
  huggingface: 'https://huggingface.co',
};

/** Reads `name=address`, comma-separated: the others answer at their own addresses. */
export function toServiceUrls(text: string, context: z.core.$RefinementCtx): typeof serviceUrls {
  const entries = text.split(',').map((entry) => entry.trim());
  const given = entries.filter(Boolean).map((entry) => {
    const [name = '', ...rest] = entry.split('=');
    const url = rest.join('=');
    if (!Object.hasOwn(serviceUrls, name) || !z.url({ protocol: /^https?$/ }).safeParse(url).success)
      context.addIssue(
        `must be such as fal=${serviceUrls.fal}, of ${Object.keys(serviceUrls).join(', ')}, not '${entry}'`,
      );
    return [name, url] as const;
  });
  return {
    ...serviceUrls,
    ...Object.fromEntries(given.map(([name, url]) => [name, url.replace(/\/+$/, '')])),
  };
}
