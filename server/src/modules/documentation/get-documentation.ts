import type { getDocumentation as endpoint } from '@bakehouse/contract/documentation';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Services } from '../../platform/context.ts';

/** Returns the configured URLs; the documentation defaults to the server's own. */
export function getDocumentation({ config }: Services): ResponseOf<typeof endpoint> {
  return {
    documentation_url: config.documentationUrl ?? new URL('/docs', config.publicUrl).href,
    built_in: config.documentationUrl === null,
    github_url: config.githubUrl,
  };
}
