import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { shareRun } from '@bakehouse/contract/share-links';
import type { Config } from '../../config.ts';
import { serverSecret } from '../accounts/sign-in/server-secret.ts';
import { shareToken } from './share-token.ts';

/** A share link as its owner sees it. */
export function toShare(
  config: Config,
  { id, created_at }: { id: string; created_at: Date },
): ResponseOf<typeof shareRun>['share'] {
  const url = sharePageUrl(config, shareToken(serverSecret(config), id));
  return { url, created_at: created_at.toISOString() };
}

/** The address of the page behind a link. */
export function sharePageUrl({ publicUrl }: Config, token: string): string {
  return new URL(`/share/${encodeURIComponent(token)}`, publicUrl).href;
}
