import type { Asset } from '@bakehouse/contract/assets';
import { FileText } from 'lucide-react';
import { countOf } from '../../lib/count-of.ts';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { FileDrop } from '../../ui/file-drop.tsx';
import { notify } from '../../ui/notify.ts';
import { findDataProblem } from './api.ts';
import { isDataFile } from './data-file.ts';
import { FileTable } from './file-table.tsx';
import { UploadList } from './upload-list.tsx';
import { uploadFiles, useUploads } from './uploads.ts';

/** Of a folder of files the first stand for the others. */
const LOOKED_AT_MAX = 5;

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
  const send = async (files: File[]) => {
    const { done, failed } = await uploadFiles(asset.dataset_id, files);
    if (failed.length > 0)
      notify.failure('Failed to upload file.', { description: failed[0]?.error ?? undefined });
    else if (done > 0) notify.success(done === 1 ? 'File uploaded' : `${countOf(done, 'file')} uploaded`);
    else notify.info('Upload cancelled');
    if (onPreview) await tellProblems(asset.dataset_id, files);
  };
  return (
    <div className="flex flex-col gap-4">
      {canChange && <FileDrop hint={hint} onFiles={(files) => void send(files)} />}
      <UploadList uploads={uploads} />
      <Card flush>
        {asset.files.length > 0 ? (
          <FileTable asset={asset} canChange={canChange} onPreview={onPreview} />
        ) : (
          <EmptyState
            icon={<FileText aria-hidden />}
            title={empty?.title ?? 'No files yet'}
            description={
              empty?.description ??
              (canChange ? 'Drop the first one above.' : 'They appear here as soon as they are there.')
            }
          />
        )}
      </Card>
      {asset.files.length < asset.file_count && (
        <p className="text-[0.8125rem] text-muted">
          These are the first {asset.files.length.toLocaleString('en')} of{' '}
          {asset.file_count.toLocaleString('en')} files. The API lists all of them.
        </p>
      )}
    </div>
  );
}

/** Says at once what is wrong with data files that have just come. */
async function tellProblems(assetId: string, files: File[]): Promise<void> {
  for (const { name: path } of files.filter((file) => isDataFile(file.name)).slice(0, LOOKED_AT_MAX)) {
    const problem = await findDataProblem(assetId, path);
    if (problem) notify.warning('This file needs a look', { description: problem, durationMs: 10_000 });
  }
}
