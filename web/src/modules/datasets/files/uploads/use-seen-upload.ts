import { useState } from 'react';
import { useUploads } from './uploads.ts';

/** Returns true from the first upload to an asset on, also after it has ended, while its page is open. */
export function useSeenUpload(assetId: string): boolean {
  const isUploading = useUploads(assetId).length > 0;
  const [seen, setSeen] = useState<string>();
  const isSeen = isUploading || seen === assetId;
  const next = isSeen ? assetId : undefined;
  if (seen !== next) setSeen(next);
  return isSeen;
}
