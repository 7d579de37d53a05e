import type { getUploadLimits as endpoint } from '@bakehouse/contract/asset-uploads';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import { formatBytes } from '@bakehouse/contract/labels';
import type { Context, Services } from '../../../../../platform/context.ts';
import { AppError } from '../../../../../platform/errors.ts';

/** Returns the maximum size of a file uploaded in parts. */
export function fileBytesMax({ fileGb }: Services['config']): number {
  return Math.floor(fileGb * 1024 ** 3);
}

export async function getUploadLimits({ config }: Context): Promise<ResponseOf<typeof endpoint>> {
  return { file_bytes_max: fileBytesMax(config) };
}

/** Throws AppError 'payload_too_large' with the field `param` for a file above the operator's limit. */
export function refuseLarge(
  config: Services['config'],
  { sizeBytes, param }: { sizeBytes: number; param: string },
): void {
  const limitBytes = fileBytesMax(config);
  if (sizeBytes <= limitBytes) return;
  throw new AppError('payload_too_large', {
    publicMessage: `A file may have at most ${formatBytes(limitBytes)} here, and this one has ${formatBytes(sizeBytes)}`,
    param,
  });
}
