import type { getDocumentation as getDocumentationEndpoint } from '@bakehouse/contract/documentation';
import * as contract from '@bakehouse/contract/documentation';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Services } from '../../platform/context.ts';
import { type Binding, bindPublic } from '../../platform/http/bind.ts';

export const documentationRoutes: Binding[] = [
  bindPublic(contract.getDocumentation, async (ctx) => getDocumentation(ctx)),
];

/** Returns the configured URLs. The documentation URL defaults to this server's own documentation. */
function getDocumentation({ config }: Services): ResponseOf<typeof getDocumentationEndpoint> {
  return {
    documentation_url: config.documentationUrl ?? new URL('/docs', config.publicUrl).href,
    built_in: config.documentationUrl === null,
    github_url: config.githubUrl,
  };
}
