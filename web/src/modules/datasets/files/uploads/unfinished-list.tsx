import { formatBytes } from '@bakehouse/contract/labels';
import { useQuery } from '@tanstack/react-query';
import { X } from 'lucide-react';
import { useRef } from 'react';
import type { ChosenFile } from '../../../../lib/files/chosen-file.ts';
import { useMutation } from '../../../../lib/mutation/use-mutation.ts';
import { Button } from '../../../../ui/button.tsx';
import { notify } from '../../../../ui/notify.ts';
import { Progress } from '../../../../ui/progress.tsx';
import { deleteUpload, type Unfinished, unfinishedQuery } from './unfinished-uploads.ts';
import { useUploads } from './uploads.ts';

type Props = { assetId: string; onFile: (file: ChosenFile) => void };

/**
 * Interrupted uploads. A page cannot keep the selected files across a reload, so each one waits for its file
 * to be selected again.
 */
export function UnfinishedList({ assetId, onFile }: Props) {
  const here = new Set(useUploads(assetId).map(({ path }) => path));
  const { data } = useQuery(unfinishedQuery(assetId));
  const waiting = data?.uploads.filter(({ path }) => !here.has(path)) ?? [];
  if (waiting.length === 0) return null;
  return (
    <ul aria-label="Unfinished uploads" className="flex flex-col gap-3">
      {waiting.map((one) => (
        <Row key={one.upload_id} assetId={assetId} upload={one} onFile={onFile} />
      ))}
    </ul>
  );
}

function Row({ assetId, upload, onFile }: Props & { upload: Unfinished }) {
  const field = useRef<HTMLInputElement>(null);
  const discard = useMutation({
    mutationKey: ['asset'],
    meta: { title: 'Failed to cancel the upload' },
    mutationFn: () => deleteUpload(assetId, upload.upload_id),
  });
  const { path, size_bytes: size, received_bytes: received } = upload;
  const name = path.slice(path.lastIndexOf('/') + 1);
  const resumeWith = (file: File | undefined) => {
    if (!file) return;
    if (file.name === name && file.size === size) onFile({ file, path });
    else notify.failure('This is a different file', { description: `Choose ${name}, ${formatBytes(size)}` });
  };
  return (
    <li className="flex items-center gap-3">
      <div className="min-w-0 flex-1">
        <Progress
          label={path}
          value={(100 * received) / size}
          aside={`${formatBytes(received)} of ${formatBytes(size)}`}
        />
        <p className="mt-1 text-compact text-muted">Choose the file again to continue its upload.</p>
      </div>
      <Button size="sm" aria-label={`Choose file: ${path}`} onClick={() => field.current?.click()}>
        Choose file
      </Button>
      <input
        ref={field}
        type="file"
        hidden
        aria-label={`File of ${path}`}
        onChange={({ target }) => {
          resumeWith(target.files?.[0]);
          target.value = '';
        }}
      />
      <Button
        variant="ghost"
        size="icon-sm"
        aria-label={`Cancel ${path}`}
        loading={discard.isPending}
        onClick={() => discard.mutate()}
      >
        <X aria-hidden />
      </Button>
    </li>
  );
}
