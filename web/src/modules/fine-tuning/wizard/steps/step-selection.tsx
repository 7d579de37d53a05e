import type { Configuration } from '@bakehouse/contract/configurations';
import { useQuery } from '@tanstack/react-query';
import { SlidersHorizontal } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button } from '../../../../ui/button.tsx';
import { useUser } from '../../../accounts/session.ts';
import { assetQuery } from '../../../datasets/asset-queries.ts';
import { AssetField } from '../../../datasets/choice/asset-field.tsx';
import { useAllAssets } from '../../../datasets/choice/choices.ts';
import { FileField } from '../../../datasets/choice/file-field.tsx';
import { isDataFile } from '../../../datasets/files/data-file.ts';
import { ConfigurationDialog } from '../../configurations/configuration-dialog.tsx';
import { idOfOnlyAsset, suggestFile } from '../suggest.ts';
import type { Suggestion, Wizard, WizardState } from '../wizard-state.ts';
import { BaseModelField } from './base-model-field.tsx';

type Props = { wizard: Pick<Wizard, 'state' | 'problems' | 'wantedFile' | 'dispatch'> };

/** Model, dataset and file. */
export function StepSelection({ wizard }: Props) {
  const { state, problems, wantedFile, dispatch } = wizard;
  const onSuggest = (values: Suggestion) => dispatch({ do: 'suggest', values });
  const suggested = useSuggestion(state, wantedFile);
  const offerDataset = useEffectEvent(() => onSuggest({ datasetId: suggested.datasetId }));
  const offerFile = useEffectEvent(() => onSuggest({ fileName: suggested.fileName }));
  // Separate effects, not on every render: a field that the user clears stays empty.
  useEffect(() => offerDataset(), [suggested.datasetId]);
  useEffect(() => offerFile(), [suggested.fileName]);
  return (
    <div className="flex flex-col gap-5">
      <BaseModelField wizard={wizard} />
      <AssetField
        types="RAW"
        label="Dataset"
        failed="Your datasets could not be loaded"
        value={state.datasetId}
        onChange={(datasetId) => dispatch({ do: 'change', values: { datasetId } })}
        error={problems.datasetId}
      />
      {state.datasetId && (
        <FileField
          datasetId={state.datasetId}
          value={state.fileName}
          onChange={(fileName) => dispatch({ do: 'change', values: { fileName } })}
          error={problems.fileName}
        />
      )}
      <ChooseConfiguration onApply={(configuration) => dispatch({ do: 'apply', configuration })} />
    </div>
  );
}

/** Returns the only dataset and file, or the file that the wizard was opened for. */
function useSuggestion({ datasetId }: WizardState, wantedFile: string | undefined): Suggestion {
  const datasets = useAllAssets(useUser().id, 'RAW');
  const dataset = useQuery({ ...assetQuery(datasetId ?? ''), enabled: datasetId !== null });
  const files = dataset.data?.files.filter((file) => isDataFile(file.path)) ?? [];
  return {
    datasetId: datasets.complete
      ? idOfOnlyAsset(datasets.assets.filter((one) => one.file_count > 0))
      : undefined,
    fileName: suggestFile(files, wantedFile, dataset.data != null && dataset.data.next_files_cursor !== null),
  };
}

type Apply = { onApply: (configuration: Configuration['fine_tune_payload']) => void };

function ChooseConfiguration({ onApply }: Apply) {
  const [choosing, setChoosing] = useState(false);
  return (
    <div className="flex justify-end">
      <Button size="sm" onClick={() => setChoosing(true)}>
        <SlidersHorizontal aria-hidden />
        Choose Config
      </Button>
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
