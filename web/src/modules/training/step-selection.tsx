import type { AssetSummary } from '@bakehouse/contract/assets';
import { formatBytes } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { SlidersHorizontal } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { Field } from '../../ui/field.tsx';
import { Select } from '../../ui/select.tsx';
import { useUser } from '../accounts/api.ts';
import { assetQuery, isDataFile, useAllAssets } from '../assets/api.ts';
import { AssetField } from '../assets/choice/api.ts';
import { useMachine } from '../machine/api.ts';
import { ConfigurationDialog } from './configuration-dialog.tsx';
import type { Configuration, Problems, Suggestion, WizardState } from './create-model-wizard-state.ts';
import { onlyOne, suggestFile } from './suggest.ts';

type Props = {
  state: WizardState;
  problems: Problems;
  onChange: (values: Partial<Pick<WizardState, 'baseModelId' | 'datasetId' | 'fileName'>>) => void;
  /** The file that the person has come from. */
  wantedFile: string | undefined;
  onSuggest: (values: Suggestion) => void;
  onApply: (configuration: Configuration['fine_tune_payload']) => void;
};

/** Which model, which dataset, which file. */
export function StepSelection({ state, problems, wantedFile, onChange, onSuggest, onApply }: Props) {
  const user = useUser();
  const [choosing, setChoosing] = useState(false);
  const models = useAllAssets(user.id, 'MODEL');
  const datasets = useAllAssets(user.id, 'RAW');
  const dataset = useQuery({ ...assetQuery(state.datasetId ?? ''), enabled: state.datasetId !== null });
  const files = dataset.data?.files.filter((file) => isDataFile(file.path)) ?? [];
  const bases = models.assets.filter(isBase);

  const suggested: Suggestion = {
    baseModelId: models.complete ? onlyOne(bases) : undefined,
    datasetId: datasets.complete ? onlyOne(datasets.assets.filter((one) => one.file_count > 0)) : undefined,
    fileName: suggestFile(files, wantedFile),
  };
  const suggest = useEffectEvent(() => onSuggest(suggested));
  // Not at each render: what the person then empties stays empty.
  useEffect(() => suggest(), [suggested.baseModelId, suggested.datasetId, suggested.fileName]);

  return (
    <div className="flex flex-col gap-5">
      <div className="flex items-center justify-between gap-3 rounded-xl bg-subtle px-4 py-3">
        <p className="text-muted">Start from parameters you saved earlier.</p>
        <Button size="sm" onClick={() => setChoosing(true)}>
          <SlidersHorizontal aria-hidden />
          Choose Config
        </Button>
      </div>
      <AssetField
        types="MODEL"
        label="Base model"
        failed="Base model selector unavailable"
        fits={isBase}
        value={state.baseModelId}
        onChange={(baseModelId) => onChange({ baseModelId })}
        error={problems.baseModelId}
        help={<StarterHint missing={bases.length === 0} />}
      />
      <AssetField
        types="RAW"
        label="Dataset"
        failed="Your datasets could not be loaded"
        value={state.datasetId}
        onChange={(datasetId) => onChange({ datasetId })}
        error={problems.datasetId}
      />
      {state.datasetId && (
        <Field
          label="File"
          error={problems.fileName}
          help={
            dataset.isSuccess && files.length === 0
              ? 'This dataset has no csv, jsonl, json, txt or parquet file yet. Upload one on its page.'
              : undefined
          }
        >
          <Select
            value={state.fileName}
            onChange={(fileName) => onChange({ fileName })}
            disabled={files.length === 0}
            placeholder={dataset.isPending ? 'Loading…' : 'Choose a file'}
            options={files.map((file) => ({
              value: file.path,
              label: file.path,
              description: formatBytes(file.size_bytes),
            }))}
          />
        </Field>
      )}
      {choosing && (
        <ConfigurationDialog
          onClose={() => setChoosing(false)}
          onApply={(configuration) => {
            onApply(configuration);
            setChoosing(false);
          }}
        />
      )}
    </div>
  );
}

/** A fine-tune stands on a whole model, not on another adapter. */
function isBase(model: AssetSummary): boolean {
  return model.parent_dataset_id === null && model.file_count > 0;
}

/** Why there may be no base model yet. */
function StarterHint({ missing }: { missing: boolean }) {
  const machine = useMachine();
  const starter = machine.data?.preparations.find((one) => one.id === 'starter-language-model');
  if (!missing || !starter || starter.state === 'ready') return null;
  return <>The starter model is still being prepared: {starter.detail}</>;
}
