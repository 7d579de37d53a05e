import type { AssetSummary } from '@bakehouse/contract/assets';
import {
  type ImageDeploymentKind,
  imageDeploymentKinds,
  type quoteFlux,
} from '@bakehouse/contract/deployments/images';
import { isServedAs } from '@bakehouse/contract/deployments/pipelines';
import type { ResponseOf } from '@bakehouse/contract/endpoint';
import type { Licence } from '@bakehouse/contract/licences';
import { gpuLabels, type InstanceType, instanceGpus, instanceTypes } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { Rocket } from 'lucide-react';
import { useState } from 'react';
import { isPriceChange } from '../../../lib/api/is-price-change.ts';
import { Button } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Field } from '../../../ui/field.tsx';
import { Money } from '../../../ui/money.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { Select } from '../../../ui/select.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { AssetField, assetQuery } from '../../assets/choice/api.ts';
import { describeAbsence, deviceName, useMachine } from '../../machines/api.ts';
import { sleepSentence } from '../details/sleeps-after.ts';
import { type ImageDeploymentWish, useDeployImage, useImageQuote } from './calls.ts';
import { imageKinds } from './kinds.ts';
import { LicenceField } from './licence-field.tsx';
import { PicturePrice } from './picture-price.tsx';

const DEFAULT_KIND: ImageDeploymentKind = 'flux-kontext';
const DEFAULT_INSTANCE: InstanceType = 'a100';

type Props = {
  /** The model that is chosen at first. */
  chosen: string | null;
  /** The kind at first; unless given, one that the model can be deployed as. */
  chosenKind?: ImageDeploymentKind;
  onClose: () => void;
};

/** What is deployed, on which GPU, at which price and under which licence. */
export function DeployImageDialog({ chosen, chosenKind, onClose }: Props) {
  const { kind, modelId, isKnown, chooseKind, chooseModel } = useChoice(chosen, chosenKind);
  const [instanceType, setInstanceType] = useState<InstanceType>(DEFAULT_INSTANCE);
  const [accepted, setAccepted] = useState(false);
  const wish = isKnown && modelId !== null ? { kind, modelId, instanceType } : null;
  const quote = useImageQuote(wish);
  const quoted = quote.isPlaceholderData || quote.isError ? undefined : quote.data;
  const unaccepted = quoted?.licence && quoted.licence.accepted_at === null ? quoted.licence : null;
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title="Deploy an image model"
      description="It is yours until you terminate it."
      footer={
        <>
          <Button onClick={onClose} className="mr-auto">
            Cancel
          </Button>
          {wish && quote.isError ? (
            <Button loading={quote.isFetching} onClick={() => void quote.refetch()}>
              Try again
            </Button>
          ) : (
            <DeployButton
              wish={wish}
              price={quoted?.price_per_hour}
              licence={unaccepted}
              disabled={quoted === undefined || (unaccepted !== null && !accepted)}
            />
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <KindField value={kind} onChange={chooseKind} />
        <AssetField
          types="MODEL"
          label="Model"
          failed="Your models could not be loaded"
          fits={({ pipeline }) => isServedAs(kind, pipeline)}
          value={modelId}
          onChange={(id) => {
            chooseModel(id);
            setAccepted(false);
          }}
          help={`Only ${imageKinds[kind].models} with a model_index.json are listed. Upload your own under My Models.`}
        />
        <GpuField value={instanceType} onChange={setInstanceType} />
        {wish && quote.isError && <Callout tone="bad">{errorMessage(quote.error)}</Callout>}
        {wish && !quote.isError && <Placement kind={kind} quote={quoted} />}
        {quoted?.licence && (
          <LicenceField licence={quoted.licence} accepted={accepted} onChange={setAccepted} />
        )}
      </div>
    </Dialog>
  );
}

/** The model and the kind that go together. What a model that was brought along is deployed as is known once it has been read. */
function useChoice(chosen: string | null, chosenKind: ImageDeploymentKind | undefined) {
  const [modelId, setModelId] = useState(chosen);
  const [wantedKind, setWantedKind] = useState(chosenKind);
  const model = useQuery({ ...assetQuery(modelId ?? ''), enabled: modelId !== null });
  const kind = wantedKind ?? kindOf(model.data) ?? DEFAULT_KIND;
  return {
    kind,
    modelId,
    isKnown: wantedKind !== undefined || !model.isPending,
    chooseKind: (next: ImageDeploymentKind) => {
      setWantedKind(next);
      // It would be refused.
      if (model.data && !isServedAs(next, model.data.pipeline)) setModelId(null);
    },
    chooseModel: (id: string | null) => {
      setWantedKind(kind);
      setModelId(id);
    },
  };
}

/** What a model is deployed as: one that edits as an editor. Undefined where it is not known, or it cannot be. */
function kindOf(model: Pick<AssetSummary, 'pipeline'> | undefined): ImageDeploymentKind | undefined {
  return model && imageDeploymentKinds.findLast((kind) => isServedAs(kind, model.pipeline));
}

type ButtonProps = {
  wish: ImageDeploymentWish | null;
  price: string | undefined;
  /** What the click accepts. */
  licence: Licence | null;
  disabled: boolean;
};

/** Deploys and leads to the deployment, with the price of an hour beside the button. */
function DeployButton({ wish, price, licence, disabled }: ButtonProps) {
  const deployment = useDeployImage();
  const navigate = useNavigate();
  const deploy = (chosen: ImageDeploymentWish) =>
    deployment.mutate(
      { wish: chosen, licence, price },
      {
        onSuccess: ({ pod_id }) =>
          void navigate({ to: '/my-deployments/images/$podId', params: { podId: pod_id } }),
      },
    );
  // What was refused may have been asked for another choice.
  const priceChanged =
    isPriceChange(deployment.error) && JSON.stringify(deployment.variables?.wish) === JSON.stringify(wish);
  return (
    <>
      {price !== undefined && (
        <span className="self-center text-[0.8125rem] text-muted">
          <span role="status">{priceChanged && 'The price has changed: '}</span>
          <Money bgl={price} /> per hour
        </span>
      )}
      <Button
        variant="primary"
        disabled={disabled}
        loading={deployment.isPending}
        onClick={() => wish && deploy(wish)}
      >
        <Rocket aria-hidden />
        Deploy
      </Button>
    </>
  );
}

const kindOptions = imageDeploymentKinds.toReversed().map((value) => ({
  value,
  label: imageKinds[value].label,
  description: imageKinds[value].does,
}));

type KindProps = { value: ImageDeploymentKind; onChange: (kind: ImageDeploymentKind) => void };

function KindField(props: KindProps) {
  return <RadioCards aria-label="Kind" columns={3} options={kindOptions} {...props} />;
}

/** Only where there are GPUs to choose from. */
function GpuField({ value, onChange }: { value: InstanceType; onChange: (value: InstanceType) => void }) {
  const { data: machine } = useMachine();
  if (!machine || machine.accelerators.length === 0) return null;
  const here = new Set(machine.accelerators.map(({ gpu_type }) => gpu_type));
  return (
    <Field label="GPU" help="If this type isn’t available, another GPU with enough memory is used.">
      <Select
        value={value}
        onChange={onChange}
        options={instanceTypes.map((type) => ({
          value: type,
          label: gpuLabels[instanceGpus[type]],
          description: here.has(instanceGpus[type]) ? undefined : describeAbsence(instanceGpus[type]),
        }))}
      />
    </Field>
  );
}

type PlacementProps = { kind: ImageDeploymentKind; quote: ResponseOf<typeof quoteFlux> | undefined };

function Placement({ kind, quote }: PlacementProps) {
  if (quote === undefined) {
    return (
      <LoadingRegion>
        <Skeleton className="h-5 w-56" />
      </LoadingRegion>
    );
  }
  return (
    <p className="text-[0.8125rem] text-muted leading-5">
      Runs on: {deviceName(quote.device)}. The price of one hour is held at the start; you pay only for the
      time it is awake
      <PicturePrice kind={kind} />. {sleepSentence(quote.sleeps_after_minutes)}
    </p>
  );
}
