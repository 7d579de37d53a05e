import { formatBytes } from '@bakehouse/contract/labels';
import { X } from 'lucide-react';
import type { ChosenFile } from '../../../lib/files/chosen-file.ts';
import { countOf } from '../../../lib/format/count-of.ts';
import { Button } from '../../../ui/button.tsx';

/** Maximum number of listed files. */
const SHOWN_MAX = 50;

type Props = { files: readonly ChosenFile[]; onChange: (files: ChosenFile[]) => void };

/** Files that were chosen but not yet uploaded; each can be removed. */
export function ChosenFiles({ files, onChange }: Props) {
  if (files.length === 0) return null;
  return (
    <ul aria-label="Chosen files" className="mt-2 divide-y divide-line rounded-xl border border-line">
      {files.slice(0, SHOWN_MAX).map((one) => (
        <li key={one.path} className="flex items-center gap-3 py-1.5 pr-2 pl-3.5">
          <span className="min-w-0 flex-1 [overflow-wrap:anywhere]">{one.path}</span>
          <span className="text-compact text-muted tabular-nums">{formatBytes(one.file.size)}</span>
          <Button
            variant="ghost"
            size="icon-sm"
            aria-label={`Remove ${one.path}`}
            onClick={() => onChange(files.filter((other) => other !== one))}
          >
            <X aria-hidden />
          </Button>
        </li>
      ))}
      {files.length > SHOWN_MAX && (
        <li className="px-3.5 py-2 text-compact text-muted">
          and {countOf(files.length - SHOWN_MAX, 'more file')}
        </li>
      )}
    </ul>
  );
}

/** Returns the files with `more`, which replace files of the same path. */
export function addFiles(files: readonly ChosenFile[], more: readonly ChosenFile[]): ChosenFile[] {
  const paths = new Set(more.map(({ path }) => path));
  return [...files.filter(({ path }) => !paths.has(path)), ...more];
}
