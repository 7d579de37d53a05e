import type { Asset, AssetFile } from '@bakehouse/contract/assets';
import { FileText } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import type { ChosenFile } from '../../../lib/files/chosen-file.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { ListSkeleton } from '../../../ui/list-skeleton.tsx';
import { AssetFileDrop } from './asset-file-drop.tsx';
import { checkFiles, type FileProblem } from './check-files.ts';
import { FileTable } from './file-table.tsx';
import { announceUpload } from './uploads/announce-upload.ts';
import { UnfinishedList } from './uploads/unfinished-list.tsx';
import { UploadList } from './uploads/upload-list.tsx';
import { uploadFiles, useUploads } from './uploads/uploads.ts';
import { useFileProblems } from './use-file-problems.ts';

type Props = {
  asset: Asset;
  canChange: boolean;
  hint: string;
  /** Help about suitable files. */
  help?: ReactNode;
  onPreview?: (path: string) => void;
  /** Replaces the default empty state. */
  empty?: { title: string; description: string } | undefined;
};

/** Placeholder of the file table. */
const ROW_HEIGHT = 45;
const ROWS_PENDING = 8;

/** The files of an asset: upload area, progress and table. */
export function AssetFiles({ asset, canChange, hint, help, onPreview, empty }: Props) {
  const uploads = useUploads(asset.dataset_id);
  const [uploaded, setUploaded] = useState<AssetFile[]>([]);
  // Rendered together with the warnings above the table to avoid a layout shift.
  const checks = useFileProblems(asset, uploaded, { enabled: onPreview !== undefined });
  const send = async (files: ChosenFile[]) => {
    const outcome = await uploadFiles(asset.dataset_id, files);
    const { done } = outcome;
    // Of two files with the same path, the later one wins.
    setUploaded((before) => [
      ...new Map([...before, ...done.map(({ file }) => file)].map((file) => [file.path, file])).values(),
    ]);
    const found = onPreview ? await checkFiles(asset.dataset_id, done) : [];
    announceUpload(outcome, found.length > 0);
  };
  return (
    <div className="flex flex-col gap-4">
      {canChange && (
        <AssetFileDrop
          hint={hint}
          help={help}
          isSlim={asset.files.length > 0}
          onFiles={(files) => void send(files)}
        />
      )}
      {canChange && <UnfinishedList assetId={asset.dataset_id} onFile={(file) => void send([file])} />}
      <UploadList uploads={uploads} onRetry={(file) => void send([file])} />
      {checks.isKnown ? (
        <>
          {onPreview && <FileProblems problems={checks.problems} onPreview={onPreview} />}
          <Files
            asset={asset}
            canChange={canChange}
            onPreview={onPreview}
            empty={empty}
            onDeleted={(deleted) => setUploaded((before) => before.filter(({ path }) => path !== deleted))}
          />
        </>
      ) : (
        <Card flush>
          <ListSkeleton rows={Math.min(asset.files.length, ROWS_PENDING)} rowHeight={ROW_HEIGHT} />
        </Card>
      )}
    </div>
  );
}

type FilesProps = Omit<Props, 'hint' | 'help'> & { onDeleted: (path: string) => void };

function Files({ asset, canChange, onPreview, empty, onDeleted }: FilesProps) {
  return (
    <Card flush>
      {asset.files.length > 0 ? (
        <FileTable asset={asset} canChange={canChange} onPreview={onPreview} onDeleted={onDeleted} />
      ) : (
        <EmptyState
          icon={<FileText aria-hidden />}
          title={empty?.title ?? 'No files yet'}
          description={
            empty?.description ??
            (canChange ? 'Drop files above to upload them.' : 'Uploaded files appear here.')
          }
        />
      )}
    </Card>
  );
}

type ProblemsProps = { problems: readonly FileProblem[]; onPreview: (path: string) => void };

/** Data files that cannot be trained on, each with its reason. */
function FileProblems({ problems, onPreview }: ProblemsProps) {
  return problems.map(({ path, problem }) => (
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
