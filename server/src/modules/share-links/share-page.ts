import type { SharedGeneration } from '@bakehouse/contract/share-links';
import type { FastifyPluginAsync } from 'fastify';
import type { Caller, Context, Services } from '../../platform/context.ts';
import { AppError } from '../../platform/errors.ts';
import { addressOf, limitBy } from '../../platform/http/callers/rate-limits.ts';
import { type PageHead, sendPage } from '../../platform/http/send-page.ts';
import { cardOf } from './card.ts';
import { sharePageUrl } from './share-token.ts';
import { getShared } from './shared-generation.ts';

const NO_ROBOTS = { name: 'robots', content: 'noindex, nofollow' };

/**
 * Creates the Fastify plugin that serves share pages: the web app with a head for link previews, because
 * messengers run no scripts.
 */
export function sharePage(services: Services, webDist: string): FastifyPluginAsync {
  return async (app) => {
    const countCall = limitBy(app, { max: services.config.rateLimitPerMinute, keyOf: addressOf });
    app.route<{ Params: { token: string } }>({
      method: ['GET', 'HEAD'],
      url: '/share/:token',
      schema: { hide: true },
      onRequest: countCall,
      handler: async ({ id: requestId, params: { token } }, reply) => {
        const caller = { kind: 'nobody' } as const;
        const head = await readHead({ ...services, caller, requestId, idempotencyKey: null }, token);
        // Prevents caching, so that a revoked link stops working.
        reply.headers({ 'cache-control': 'no-store', 'x-robots-tag': 'noindex, nofollow' });
        return sendPage(reply.code(head ? 200 : 404), webDist, head ?? notFound);
      },
    });
  };
}

const notFound: PageHead = { title: 'Not found · Bakehouse', meta: [NO_ROBOTS] };

async function readHead(ctx: Context<Caller>, token: string): Promise<PageHead | null> {
  try {
    return headOf(ctx, token, await getShared(ctx, { token }));
  } catch (error) {
    if (error instanceof AppError && error.code === 'not_found') return null;
    throw error;
  }
}

/** Returns the page's head: title, and Open Graph and X tags for the preview. */
function headOf({ config }: Context<Caller>, token: string, shared: SharedGeneration): PageHead {
  const { title, description, type, media } = cardOf(shared, (url) => new URL(url, config.publicUrl).href);
  return {
    title: `${title} · Bakehouse`,
    meta: [
      NO_ROBOTS,
      { name: 'description', content: description },
      ...properties({
        'og:site_name': 'Bakehouse',
        'og:type': type,
        'og:url': sharePageUrl(config, token),
        'og:title': title,
        'og:description': description,
        ...media,
      }),
      { name: 'twitter:card', content: Object.keys(media).length > 0 ? 'summary_large_image' : 'summary' },
    ],
  };
}

function properties(tags: Record<string, string>): Record<string, string>[] {
  return Object.entries(tags).map(([property, content]) => ({ property, content }));
}
