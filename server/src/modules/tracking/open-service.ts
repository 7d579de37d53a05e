import { trackerLabels } from '@bakehouse/contract/trackers';
import type { Config } from '../../config.ts';
import { decrypt, type Encryption } from '../../platform/secrets/encryption.ts';
import { serverSecret } from '../accounts/sign-in/server-secret.ts';
import { mlflow } from './services/mlflow.ts';
import { ServiceRefused, type TrackingService } from './services/tracking-service.ts';
import { wandb } from './services/wandb.ts';
import type { TrackerRow } from './tracker-queries.ts';

type Settings = Parameters<typeof serverSecret>[0] & Pick<Config, 'trackingHosts' | 'wandbUrl'>;
type Connection = Pick<TrackerRow, 'service' | 'project' | 'url'> & { key: string | null };

/** Creates the client of a tracker's service. */
export function openService({ service, project, url, key }: Connection, config: Settings): TrackingService {
  if (service === 'wandb') {
    const access = { url: new URL(config.wandbUrl), headers: basic(`api:${key ?? ''}`), isTrusted: true };
    // W&B answers 403 if the key may not access a project or team.
    return wandb({ ...access, name: trackerLabels.wandb, keyRefusals: [401] }, { project });
  }
  const address = new URL(url ?? '');
  const headers = key === null ? {} : key.includes(':') ? basic(key) : { authorization: `Bearer ${key}` };
  const isTrusted = config.trackingHosts.includes(address.hostname);
  const access = { url: address, headers, isTrusted, name: address.host, keyRefusals: [401, 403] };
  return mlflow(access, { project });
}

/**
 * Decrypts the tracker's key; null if it has none. Throws ServiceRefused if the server's secret has changed.
 */
export function keyOf({ encrypted, user_id }: TrackerRow, config: Settings): string | null {
  if (encrypted === null) return null;
  try {
    return decrypt(encrypted, encryptionOf(user_id, config));
  } catch (cause) {
    throw new ServiceRefused('The saved API key can no longer be read', { cause });
  }
}

export function encryptionOf(userId: string, config: Settings): Encryption {
  return { userId, purpose: 'experiment tracker', secret: serverSecret(config) };
}

function basic(credentials: string): Record<string, string> {
  return { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}
