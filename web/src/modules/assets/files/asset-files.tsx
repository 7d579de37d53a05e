import type { Asset, AssetFile } from '@bakehouse/contract/assets';
import { FileText } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { FileDrop } from '../../../ui/file-drop.tsx';
import { announceUpload } from './announce-upload.ts';
import { checkFiles } from './check-files.ts';
import { FileTable } from './file-table.tsx';
import { UploadList } from './upload-list.tsx';
import { uploadFiles, useUploads } from './uploads.ts';
import { useFileProblems } from './use-file-problems.ts';

type Props = {
  asset: Asset;
  canChange: boolean;
  hint: string;
  onPreview?: (path: string) => void;
  /** What to say where there are none, if there is more to it. */
  empty?: { title: string; description: string } | undefined;
};

/** The files of an asset: drop new ones, follow them, and work with those that are there. */
export function AssetFiles({ asset, canChange, hint, onPreview, empty }: Props) {
  const uploads = useUploads(asset.dataset_id);
  const [uploaded, setUploaded] = useState<AssetFile[]>([]);
  const send = async (files: File[]) => {
    const outcome = await uploadFiles(asset.dataset_id, files);
    const { done } = outcome;
    // Of two with one name the later one is there.
    setUploaded((before) => [
      ...new Map([...before, ...done.map(({ file }) => file)].map((file) => [file.path, file])).values(),
    ]);
    const found = onPreview ? await checkFiles(asset.dataset_id, done) : [];
    announceUpload(outcome, found.length > 0);
  };
  return (
    <div className="flex flex-col gap-4">
      {canChange && <FileDrop hint={hint} onFiles={(files) => void send(files)} />}
      <UploadList uploads={uploads} onRetry={(file) => void send([file])} />
      {onPreview && <FileProblems asset={asset} uploaded={uploaded} onPreview={onPreview} />}
      <Card flush>
        {asset.files.length > 0 ? (
          <FileTable
            asset={asset}
            canChange={canChange}
            onPreview={onPreview}
            onDeleted={(deleted) => setUploaded((before) => before.filter(({ path }) => path !== deleted))}
          />
        ) : (
          <EmptyState
            icon={<FileText aria-hidden />}
            title={empty?.title ?? 'No files yet'}
            description={
              empty?.description ??
              (canChange ? 'Drop the first one above.' : 'Files appear here as soon as there are any.')
            }
          />
        )}
      </Card>
    </div>
  );
}

type ProblemsProps = { asset: Asset; uploaded: readonly AssetFile[]; onPreview: (path: string) => void };

/** The data files that cannot be trained on as they are, each with its reason. */
function FileProblems({ asset, uploaded, onPreview }: ProblemsProps) {
  return useFileProblems(asset, uploaded).map(({ path, problem }) => (
    <Callout
      key={path}
      tone="warn"
      title={path}
      action={
        <Button size="sm" onClick={() => onPreview(path)}>
          Show rows
        </Button>
      }
    >
      {problem}
    </Callout>
  ));
}
