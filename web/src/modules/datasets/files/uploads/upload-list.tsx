import { formatBytes } from '@bakehouse/contract/labels';
import { Pause, X } from 'lucide-react';
import type { ChosenFile } from '../../../../lib/files/chosen-file.ts';
import { countOf } from '../../../../lib/format/count-of.ts';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Button } from '../../../../ui/button.tsx';
import { Progress } from '../../../../ui/progress.tsx';
import { announceUpload } from './announce-upload.ts';
import { dismissUpload, pauseUpload, removeUpload, type Upload, uploadFiles } from './uploads.ts';

type Props = {
  uploads: Upload[];
  /** Retries a file. Defaults to uploading it again. */
  onRetry?: (file: ChosenFile) => void;
};

/** Maximum number of rendered files. */
const SHOWN_MAX = 50;

/** Display order: failed, then uploading, then waiting. */
const order: Record<Upload['state'], number> = { failed: 0, paused: 1, sending: 2, waiting: 3, done: 4 };

/** Uploads with their progress; failed and paused ones stay until they are retried or dismissed. */
export function UploadList({ uploads, onRetry }: Props) {
  if (uploads.length === 0) return null;
  const isLong = uploads.length > SHOWN_MAX;
  const shown = isLong
    ? uploads.toSorted((one, other) => order[one.state] - order[other.state]).slice(0, SHOWN_MAX)
    : uploads;
  return (
    <ul className="flex flex-col gap-3">
      {isLong && (
        <li className="text-compact text-muted tabular-nums">
          {formatNumber(uploads.filter(({ state }) => state === 'done').length)} of{' '}
          {countOf(uploads.length, 'file')} uploaded, {SHOWN_MAX} shown
        </li>
      )}
      {shown.map((one) => (
        <li key={one.id} className="flex items-center gap-3">
          <div className="min-w-0 flex-1">
            {one.state === 'failed' ? (
              <p role="alert" className="text-compact">
                <span className="font-medium">{one.path}</span>
                <span className="block text-bad">{one.error}</span>
              </p>
            ) : (
              <Progress
                label={one.path}
                value={one.sizeBytes === 0 ? null : (100 * one.sentBytes) / one.sizeBytes}
                aside={asideOf(one)}
              />
            )}
          </div>
          {(one.state === 'failed' || one.state === 'paused') && (
            <Button
              size="sm"
              aria-label={`${one.state === 'paused' ? 'Resume' : 'Try again'}: ${one.path}`}
              onClick={() => {
                removeUpload(one.id);
                if (onRetry) onRetry(one);
                else void uploadFiles(one.assetId, [one]).then(announceUpload);
              }}
            >
              {one.state === 'paused' ? 'Resume' : 'Try again'}
            </Button>
          )}
          {one.inParts && one.state === 'sending' && (
            <Button
              variant="ghost"
              size="icon-sm"
              aria-label={`Pause ${one.path}`}
              onClick={() => pauseUpload(one.id)}
            >
              <Pause aria-hidden />
            </Button>
          )}
          <Button
            variant="ghost"
            size="icon-sm"
            // Fixed width, so that the progress bars align.
            className={one.state === 'done' ? 'invisible' : undefined}
            aria-label={one.state === 'failed' ? `Dismiss ${one.path}` : `Cancel ${one.path}`}
            onClick={() => dismissUpload(one.id)}
          >
            <X aria-hidden />
          </Button>
        </li>
      ))}
    </ul>
  );
}

function asideOf(one: Upload): string {
  if (one.state === 'waiting') return 'Waiting';
  if (one.state === 'done') return 'Uploaded';
  if (one.isStalled) return 'Waiting for the connection';
  if (one.sentBytes >= one.sizeBytes) return 'Checking';
  const sent = `${formatBytes(one.sentBytes)} of ${formatBytes(one.sizeBytes)}`;
  return one.state === 'paused' ? `Paused, ${sent}` : sent;
}
