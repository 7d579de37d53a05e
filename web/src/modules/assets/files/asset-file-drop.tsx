import { getUploadLimits } from '@bakehouse/contract/asset-uploads';
import { useQuery } from '@tanstack/react-query';
import type { ComponentProps } from 'react';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { FileDrop } from '../../../ui/file-drop.tsx';

type Props = Pick<ComponentProps<typeof FileDrop>, 'onFiles' | 'hint' | 'help'>;

const limitsQuery = endpointQuery(
  ['upload-limits'],
  getUploadLimits,
  {},
  { staleTime: Number.POSITIVE_INFINITY },
);

/** A place to drop files of a dataset or model on, which are as large as the operator lets them be. */
export function AssetFileDrop(props: Props) {
  // While it is not known the server refuses by itself.
  return <FileDrop {...props} bytesMax={useQuery(limitsQuery).data?.file_bytes_max ?? null} />;
}
