import type { Config } from '../../config.ts';
import type { Database } from '../../platform/db/database.ts';
import { localUrl } from '../../platform/http/addresses/own-addresses.ts';
import { findServerUrl } from './queries.ts';

type Settings = Pick<Config, 'host' | 'port' | 'publicUrl' | 's3'>;

/**
 * Returns the URL at which this machine's workloads reach a server. If this process serves requests, that is
 * its local URL: a proxy at the public URL may limit bodies or block this machine. Otherwise it is the public
 * URL if one is set. With files in a bucket, any live process can accept reports, so one of them is used if
 * there is no public URL.
 */
export async function findWorkloadServer(db: Database, settings: Settings, roles: string[]): Promise<string> {
  const own = localUrl(settings);
  if (roles.includes('web')) return own;
  if (settings.s3 === null || settings.publicUrl !== own) return settings.publicUrl;
  return (await findServerUrl(db)) ?? settings.publicUrl;
}
