import { formatBytes } from '@bakehouse/contract/labels';
import { FILE_SIZE_LIMIT_BYTES, FILE_SIZE_LIMIT_MESSAGE } from '@bakehouse/contract/limits';
import { Upload } from 'lucide-react';
import { type DragEvent, type ReactNode, useRef, useState } from 'react';
import { cx } from '../lib/cx.ts';
import { type Choice, type ChosenFile, chosenFiles, droppedFiles } from '../lib/files/chosen-file.ts';
import { countOf } from '../lib/format/count-of.ts';
import { Button } from './button.tsx';
import { notify } from './notify.ts';

type Props = {
  /** Receives the files that are neither empty nor too large. */
  onFiles: (files: ChosenFile[]) => void;
  /** Accepted formats, such as 'csv, jsonl, json, txt or parquet'. */
  hint: string;
  /** Another way to choose files, next to the buttons. */
  more?: ReactNode;
  /** Details below the hint. */
  help?: ReactNode;
  /**
   * Size limit per file, 500 MB by default. Null passes files of any size to the caller, which must check
   * them.
   */
  bytesMax?: number | null;
  /** Also accepts a folder; its files keep their relative paths. */
  multiple?: boolean;
  /** The input's `accept` attribute. */
  accept?: string;
  /** A low bar without `hint` and `help`, for a place that already has files. */
  isSlim?: boolean;
};

/** A drop zone with equivalent buttons. Rejects empty and oversized files by name. */
export function FileDrop({
  onFiles,
  hint,
  more,
  help,
  bytesMax = FILE_SIZE_LIMIT_BYTES,
  multiple = true,
  accept,
  isSlim = false,
}: Props) {
  const [over, setOver] = useState(false);

  function acceptFiles({ files, hidden }: Choice) {
    const fitting = files.filter((one) => !isRefused(one, bytesMax));
    if (hidden.length > 0) notify.info(leftOut(hidden));
    if (fitting.length > 0) onFiles(multiple ? fitting : fitting.slice(0, 1));
  }

  function readDropped(dropped: DataTransfer) {
    if (!multiple) return acceptFiles(chosenFiles(dropped.files));
    droppedFiles(dropped).then(acceptFiles, () => notify.failure('The folder could not be read'));
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
        readDropped(event.dataTransfer);
      }}
      className={cx(
        'flex items-center rounded-xl border border-dashed px-4 transition-colors',
        isSlim ? 'flex-wrap gap-x-4 gap-y-2 py-2' : 'flex-col py-7 text-center',
        over ? 'border-accent bg-accent-soft' : 'border-line-strong',
      )}
    >
      <Upload aria-hidden className={cx('text-muted', isSlim ? 'size-4' : 'mb-2.5 size-5')} />
      <div className="flex flex-wrap items-center justify-center gap-2">
        <span className={cx('max-sm:hidden', Boolean(more) && 'w-full')}>
          Drop {multiple ? 'files or a folder' : 'a file'} here, or
        </span>
        <ChooseButton
          label={multiple ? 'Choose files' : 'Choose a file'}
          input={{ multiple, accept }}
          onChosen={acceptFiles}
        />
        {multiple && (
          <ChooseButton
            label="Choose folder"
            input={{ multiple, webkitdirectory: '' }}
            onChosen={acceptFiles}
          />
        )}
        {more}
      </div>
      <Hint hint={hint} help={help} bytesMax={bytesMax} isSlim={isSlim} />
    </div>
  );
}

function Hint({ hint, help, bytesMax = null, isSlim = false }: Omit<Props, 'onFiles'>) {
  return (
    <>
      <p className={cx('text-compact text-muted', isSlim ? 'ml-auto' : 'mt-2')}>
        {!isSlim && hint}
        {bytesMax !== null && `${isSlim ? '' : '. '}At most ${sizeOf(bytesMax)} each.`}
      </p>
      {help && !isSlim && (
        <p className="mt-1 max-w-prose text-balance text-compact text-muted [overflow-wrap:anywhere]">
          {help}
        </p>
      )}
    </>
  );
}

type ButtonProps = {
  label: string;
  input: { multiple?: boolean; accept?: string | undefined; webkitdirectory?: '' };
  onChosen: (choice: Choice) => void;
};

function ChooseButton({ label, input, onChosen }: ButtonProps) {
  const field = useRef<HTMLInputElement>(null);
  return (
    <>
      <Button size="sm" onClick={() => field.current?.click()}>
        {label}
      </Button>
      <input
        ref={field}
        type="file"
        hidden
        aria-label={label}
        {...input}
        onChange={(event) => {
          onChosen(chosenFiles(event.target.files ?? []));
          // Allow choosing the same file again after it was removed.
          event.target.value = '';
        }}
      />
    </>
  );
}

/** Reports an empty or oversized file by name and returns true. */
function isRefused({ file, path }: ChosenFile, bytesMax: number | null): boolean {
  const isTooLarge = bytesMax !== null && file.size > bytesMax;
  if (isTooLarge) notify.failure(tooLarge(bytesMax), { description: path });
  if (file.size === 0) notify.failure('Failed to upload file.', { description: `${path} is empty` });
  return isTooLarge || file.size === 0;
}

function tooLarge(bytesMax: number | null): string {
  return bytesMax === null || bytesMax === FILE_SIZE_LIMIT_BYTES
    ? FILE_SIZE_LIMIT_MESSAGE
    : `File size exceeds ${sizeOf(bytesMax).replace(' ', '')} limit`;
}

/** Formats whole amounts without decimals: 500 MB. */
function sizeOf(bytes: number): string {
  return formatBytes(bytes).replace('.00', '');
}

function leftOut([first = '', ...more]: string[]): string {
  return more.length === 0
    ? `The hidden file ${first} was skipped`
    : `${countOf(more.length + 1, 'hidden file')} were left out, such as ${first}`;
}
