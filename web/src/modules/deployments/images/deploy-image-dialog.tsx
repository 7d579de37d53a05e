import { type ImageDeploymentKind, imageDeploymentKinds } from '@bakehouse/contract/image-deployments';
import type { Licence } from '@bakehouse/contract/licences';
import { gpuLabels, type InstanceType, instanceGpus, instanceTypes } from '@bakehouse/contract/limits';
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
import { AssetField } from '../../assets/choice/api.ts';
import { deviceName, useMachine } from '../../machine/api.ts';
import { type ImageDeploymentWish, useDeployImage, useImageQuote } from './calls.ts';
import { imageKinds } from './kinds.ts';
import { LicenceField } from './licence-field.tsx';
import { PicturePrice } from './picture-price.tsx';

const DEFAULT_INSTANCE: InstanceType = 'a100';

type Props = {
  /** The model that is chosen at first. */
  chosen: string | null;
  /** The kind at first. */
  chosenKind?: ImageDeploymentKind;
  onClose: () => void;
};

/** What is deployed, on which GPU, at which price and under which licence. */
export function DeployImageDialog({ chosen, chosenKind = 'flux-kontext', onClose }: Props) {
  const [kind, setKind] = useState<ImageDeploymentKind>(chosenKind);
  const [modelId, setModelId] = useState(chosen);
  const [instanceType, setInstanceType] = useState<InstanceType>(DEFAULT_INSTANCE);
  const [accepted, setAccepted] = useState(false);
  const wish = modelId === null ? null : { kind, modelId, instanceType };
  const quote = useImageQuote(wish);
  const known = quote.isPlaceholderData || quote.isError ? undefined : quote.data;
  const unaccepted = known?.licence && known.licence.accepted_at === null ? known.licence : null;
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title="Deploy an image model"
      description="It is yours until you terminate it. While nobody uses it, it sleeps and costs nothing."
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
              price={known?.price_per_hour}
              licence={unaccepted}
              disabled={known === undefined || (unaccepted !== null && !accepted)}
            />
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <KindField value={kind} onChange={setKind} />
        <AssetField
          types="MODEL"
          label="Model"
          failed="Your models could not be loaded"
          fits={(model) => model.file_count > 0 && model.starter_task !== 'text'}
          value={modelId}
          onChange={(id) => {
            setModelId(id);
            setAccepted(false);
          }}
          help="A FLUX model in Diffusers format. Upload your own under My Models."
        />
        <GpuField value={instanceType} onChange={setInstanceType} />
        {wish && quote.isError && <Callout tone="bad">{errorMessage(quote.error)}</Callout>}
        {wish && !quote.isError && <Placement device={known?.device} />}
        {known?.licence && (
          <LicenceField licence={known.licence} accepted={accepted} onChange={setAccepted} />
        )}
      </div>
    </Dialog>
  );
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
  return <RadioCards aria-label="Kind" columns={2} options={kindOptions} {...props} />;
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
          description: here.has(instanceGpus[type]) ? undefined : 'Not on this machine',
        }))}
      />
    </Field>
  );
}

function Placement({ device }: { device: string | undefined }) {
  if (device === undefined) {
    return (
      <LoadingRegion>
        <Skeleton className="h-5 w-56" />
      </LoadingRegion>
    );
  }
  return (
    <p className="text-[0.8125rem] text-muted leading-5">
      Runs on: {deviceName(device)}. The price of one hour is held at the start; you pay only for the time it
      is awake
      <PicturePrice />.
    </p>
  );
}
