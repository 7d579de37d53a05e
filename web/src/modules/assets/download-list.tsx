import { formatBytes } from '@bakehouse/contract/limits';
import { X } from 'lucide-react';
import { Button } from '../../ui/button.tsx';
import { Progress } from '../../ui/progress.tsx';
import { cancelDownload, type Download } from './downloads.ts';

/** Files on their way to the person's disk, each with how far it is. */
export function DownloadList({ downloads }: { downloads: Download[] }) {
  if (downloads.length === 0) return null;
  return (
    <ul aria-label="Downloads" className="flex flex-col gap-3">
      {downloads.map((one) => (
        <li key={one.id} className="flex items-center gap-3">
          <div className="min-w-0 flex-1">
            <Progress
              label={`Downloading ${one.fileName}`}
              value={one.sizeBytes === 0 ? null : (100 * one.receivedBytes) / one.sizeBytes}
              aside={`${formatBytes(one.receivedBytes)} of ${formatBytes(one.sizeBytes)}`}
            />
          </div>
          <Button
            variant="ghost"
            size="icon-sm"
            aria-label={`Cancel ${one.fileName}`}
            onClick={() => cancelDownload(one.id)}
          >
            <X aria-hidden />
          </Button>
        </li>
      ))}
    </ul>
  );
}
