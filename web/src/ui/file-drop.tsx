import { FILE_SIZE_LIMIT_BYTES, FILE_SIZE_LIMIT_MESSAGE } from '@bakehouse/contract/limits';
import { Upload } from 'lucide-react';
import { type DragEvent, useRef, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { Button } from './button.tsx';
import { notify } from './notify.ts';

type Props = {
  /** Called with the files that are not too large. */
  onFiles: (files: File[]) => void;
  /** What belongs here: 'csv, jsonl, json, txt or parquet'. */
  hint: string;
  /** Files of every size are passed on: who gets them says what is too large, and the hint how large they may be. */
  anySize?: boolean;
  multiple?: boolean;
  /** As the input's `accept`. */
  accept?: string;
};

/** A place to drop files on, with a button that does the same. Files over the limit are refused by name. */
export function FileDrop({ onFiles, hint, anySize = false, multiple = true, accept }: Props) {
  const input = useRef<HTMLInputElement>(null);
  const [over, setOver] = useState(false);

  function take(list: FileList | null) {
    const files = [...(list ?? [])];
    const fits = ({ size }: File) => anySize || size <= FILE_SIZE_LIMIT_BYTES;
    const fitting = files.filter(fits);
    for (const file of files) {
      if (!fits(file)) notify.failure(FILE_SIZE_LIMIT_MESSAGE, { description: file.name });
    }
    if (fitting.length > 0) onFiles(multiple ? fitting : fitting.slice(0, 1));
  }

  function drag(event: DragEvent, inside: boolean) {
    event.preventDefault();
    setOver(inside);
  }

  return (
    <div
      onDragOver={(event) => drag(event, true)}
      onDragLeave={(event) => drag(event, false)}
      onDrop={(event) => {
        drag(event, false);
        take(event.dataTransfer.files);
      }}
      className={cx(
        'flex flex-col items-center rounded-xl border border-dashed px-4 py-7 text-center transition-colors',
        over ? 'border-accent bg-accent-soft' : 'border-line-strong',
      )}
    >
      <Upload aria-hidden className="mb-2.5 size-5 text-muted" />
      <p>
        <span className="max-sm:hidden">Drop {multiple ? 'files' : 'a file'} here, or </span>
        <Button size="sm" onClick={() => input.current?.click()}>
          Choose {multiple ? 'files' : 'a file'}
        </Button>
      </p>
      <p className="mt-2 text-[0.8125rem] text-muted">{anySize ? hint : `${hint}. At most 500 MB each.`}</p>
      <input
        ref={input}
        type="file"
        hidden
        aria-label={multiple ? 'Choose files' : 'Choose a file'}
        multiple={multiple}
        accept={accept}
        onChange={(event) => {
          take(event.target.files);
          // The same file may be chosen again after it was removed.
          event.target.value = '';
        }}
      />
    </div>
  );
}
