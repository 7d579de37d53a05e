import { getUploadLimits } from '@bakehouse/contract/asset-uploads';
import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { FileDrop } from '../../../ui/file-drop.tsx';

type Props = Pick<ComponentProps<typeof FileDrop>, 'onFiles' | 'hint' | 'help' | 'isSlim'>;

const limitsQuery = endpointQuery(
  ['upload-limits'],
  getUploadLimits,
  {},
  { staleTime: Number.POSITIVE_INFINITY },
);

/** A drop area for an asset's files, limited to the operator's maximum size. */
export function AssetFileDrop(props: Props) {
  // No limit while it loads; the server enforces it anyway.
  return <FileDrop {...props} bytesMax={useQuery(limitsQuery).data?.file_bytes_max ?? null} />;
}
