import { useSearch } from '@tanstack/react-router';
import { Suspense, useState } from 'react';
import { useCreatePanel } from '../lib/create-panel.ts';
import { LoadError, loadable } from '../lib/loadable.tsx';
import { Boundary, type Broken, useRetry } from '../ui/boundary.tsx';
import { Button } from '../ui/button.tsx';
import { ErrorState } from '../ui/error-state.tsx';
import { NotFetched } from './page-error.tsx';

const CreateDatasetSheet = loadable(
  async () => (await import('../modules/assets/create-dataset-sheet.tsx')).CreateDatasetSheet,
);
const CreateModelSheet = loadable(
  async () => (await import('../modules/training/create-model-sheet.tsx')).CreateModelSheet,
);

/** Fetches the code of the sheets before one is opened. */
export function preloadSheets(): void {
  void CreateDatasetSheet.preload();
  void CreateModelSheet.preload();
}

/** The sheets that the URL opens. Each stays mounted after its first opening, to slide out. */
export function CreateSheets() {
  const { create, dataset, dataFile, baseModel, modelType } = useSearch({ from: '/app' });
  const openPanel = useCreatePanel();
  const [seen, setSeen] = useState({ dataset: false, model: false });
  if (create && !seen[create]) setSeen({ ...seen, [create]: true });
  const close = () => openPanel({});
  return (
    <Boundary fallback={BrokenSheet}>
      <Suspense>
        {seen.dataset && <CreateDatasetSheet open={create === 'dataset'} onClose={close} />}
        {seen.model && (
          <CreateModelSheet
            open={create === 'model'}
            onClose={close}
            dataset={dataset}
            dataFile={dataFile}
            baseModel={baseModel}
            modelType={modelType}
          />
        )}
      </Suspense>
    </Boundary>
  );
}

/** Stands where the sheet would; drawn without the sheet's own code, which may be what is missing. */
function BrokenSheet(broken: Broken) {
  const { create } = useSearch({ from: '/app' });
  const openPanel = useCreatePanel();
  const retry = useRetry(broken);
  if (!create) return null;
  return (
    <div
      role="dialog"
      aria-label={create === 'dataset' ? 'Create Dataset' : 'Create Model'}
      className="fixed inset-y-0 right-0 z-40 flex w-full flex-col justify-center bg-surface shadow-pop sm:max-w-md"
    >
      {broken.error instanceof LoadError ? (
        <NotFetched error={broken.error} onRetry={retry} part="form" />
      ) : (
        <ErrorState title="Something went wrong" error={broken.error} onRetry={retry} />
      )}
      <Button variant="ghost" className="mx-auto" onClick={() => openPanel({})}>
        Close
      </Button>
    </div>
  );
}
