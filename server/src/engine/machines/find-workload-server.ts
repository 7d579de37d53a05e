import type { Config } from '../../config.ts';
import type { Database } from '../../platform/db/database.ts';
import { localUrl } from '../../platform/http/addresses/local-url.ts';
import { findServerUrl } from './queries.ts';

type Settings = Pick<Config, 'host' | 'port' | 'publicUrl' | 's3'>;

/**
 * Where workloads of this machine reach a server. Where this process answers requests, they go past a proxy before the
 * public URL, which may limit bodies or not let this machine in. With files in a bucket any server does: the public URL,
 * where there is one, leads to whichever lives.
 */
export async function findWorkloadServer(db: Database, settings: Settings, roles: string[]): Promise<string> {
  const own = localUrl(settings);
  if (roles.includes('web')) return own;
  if (settings.s3 === null || settings.publicUrl !== own) return settings.publicUrl;
  return (await findServerUrl(db)) ?? settings.publicUrl;
}
