import type { AssetSummary } from '@bakehouse/contract/assets';
import { Captions } from 'lucide-react';
import { useEffect, useEffectEvent, useState } from 'react';
import { Button } from '../../../../ui/button.tsx';
import { Field } from '../../../../ui/field.tsx';
import { Input } from '../../../../ui/input.tsx';
import { useUser } from '../../../accounts/session.ts';
import { AssetField } from '../../../datasets/choice/asset-field.tsx';
import { useAllAssets } from '../../../datasets/choice/choices.ts';
import { CaptionEditor } from '../../../datasets/pictures/caption-editor.tsx';
import { idOfOnlyAsset } from '../../wizard/suggest.ts';
import type { BaseSize } from '../train-lora-state.ts';
import type { TrainLora } from '../use-train-lora.ts';

type Props = { wizard: Pick<TrainLora, 'state' | 'problems' | 'dispatch'> };

const TRAINED = ['FluxPipeline', 'FluxKontextPipeline'];
/** Separates small models, which a CPU can train, from full-size ones. Both are far from this limit. */
const SMALL_BYTES_MAX = 2_000_000_000;

/** Name of the LoRA, its base model and its pictures. */
export function PicturesStep({ wizard: { state, problems, dispatch } }: Props) {
  const models = useAllAssets(useUser().id, 'MODEL');
  const bases = models.assets.filter(isBase);
  const choose = (baseModelId: string | null) => {
    const base = bases.find(({ dataset_id }) => dataset_id === baseModelId);
    dispatch({ do: 'change', values: { baseModelId, ...(base && { size: sizeOf(base) }) } });
  };
  const only = models.complete ? idOfOnlyAsset(bases) : undefined;
  const suggest = useEffectEvent(() => {
    if (only !== undefined && state.baseModelId === null) choose(only);
  });
  // Don't suggest on every render: a field that the user clears stays empty.
  useEffect(() => suggest(), [only]);
  return (
    <div className="flex flex-col gap-5">
      <Field label="Name" error={problems.name}>
        <Input
          value={state.name}
          autoComplete="off"
          placeholder="Crayon drawings"
          onChange={(event) => dispatch({ do: 'change', values: { name: event.target.value } })}
        />
      </Field>
      <AssetField
        types="MODEL"
        label="Base model"
        failed="Base model selector unavailable"
        fits={isBase}
        value={state.baseModelId}
        onChange={choose}
        error={problems.baseModelId}
        help="A FLUX or FLUX Kontext model. The LoRA works with this model."
      />
      <AssetField
        types="RAW"
        label="Dataset"
        failed="Your datasets could not be loaded"
        value={state.datasetId}
        onChange={(datasetId) => dispatch({ do: 'change', values: { datasetId } })}
        error={problems.datasetId}
        help="10 to 50 pictures of one style or one subject. With fewer than 10 pictures, all are used for training and none to measure it. Put captions in a text file with the same name next to each picture, or in a metadata.jsonl."
      />
      {state.datasetId !== null && (
        <WriteCaptions datasetId={state.datasetId} trigger={state.triggerWord.trim()} />
      )}
      <Field
        label="Trigger word"
        aside="Optional"
        help="A unique word, added to the start of every caption. Use it in prompts to activate the LoRA."
      >
        <Input
          value={state.triggerWord}
          autoComplete="off"
          placeholder="zwk style"
          onChange={(event) => dispatch({ do: 'change', values: { triggerWord: event.target.value } })}
        />
      </Field>
    </div>
  );
}

function WriteCaptions({ datasetId, trigger }: { datasetId: string; trigger: string }) {
  const [writing, setWriting] = useState(false);
  return (
    <>
      <Button size="sm" className="-mt-2 self-start" onClick={() => setWriting(true)}>
        <Captions aria-hidden />
        Write captions
      </Button>
      {writing && <CaptionEditor {...{ datasetId, trigger }} onClose={() => setWriting(false)} />}
    </>
  );
}

function isBase({ pipeline }: AssetSummary): boolean {
  return pipeline !== null && TRAINED.includes(pipeline);
}

function sizeOf({ size_bytes }: AssetSummary): BaseSize {
  return size_bytes > SMALL_BYTES_MAX ? 'full' : 'small';
}
