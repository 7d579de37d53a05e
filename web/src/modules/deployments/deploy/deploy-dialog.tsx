import type { InstanceType } from '@bakehouse/contract/limits';
import { useQuery } from '@tanstack/react-query';
import { Rocket } from 'lucide-react';
import { useState } from 'react';
import { Button } from '../../../ui/button.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { RadioCards } from '../../../ui/radio-cards.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { useUser } from '../../accounts/session.ts';
import { assetQuery } from '../../datasets/asset-queries.ts';
import { AssetField } from '../../datasets/choice/asset-field.tsx';
import { deviceName } from '../../machines/devices.ts';
import { sleepSentence } from '../details/sleeps-after.ts';
import { type Family, families, type Kind, kindFor, kindRow, kindsOf } from '../kinds.ts';
import { OutputPrice } from '../output-price.tsx';
import { ContextField } from './context-field.tsx';
import { DeployButton } from './deploy-button.tsx';
import { GpuField, type Gpus } from './gpu-field.tsx';
import { LicenceField } from './licence-field.tsx';
import { type DeploymentRequest, quoteQuery } from './use-deploy.ts';

const DEFAULT_INSTANCE: InstanceType = 'a100';

type Props = {
  family: Family;
  /** The initially selected model. */
  chosen?: string | null;
  /** The initial kind. Defaults to a kind that fits the model. */
  chosenKind?: Kind;
  onClose: () => void;
};

/** A dialog to choose the model, the GPU and the licence of a deployment, with its price. */
export function DeployDialog({ family, chosen = null, chosenKind, onClose }: Props) {
  const { kind, modelId, isKnown, chooseKind, chooseModel } = useChoice(family, chosen, chosenKind);
  const { fits, modelsNote } = kindRow(kind);
  const [gpus, setGpus] = useState<Gpus>({ instanceType: DEFAULT_INSTANCE });
  const [contextTokens, setContextTokens] = useState<number>();
  const [accepted, setAccepted] = useState(false);
  const request =
    isKnown && modelId !== null ? { kind, modelId, ...gpus, ...(contextTokens && { contextTokens }) } : null;
  const { data: quote } = useQuery({
    ...quoteQuery(request ?? { kind, modelId: '' }, useUser().id),
    enabled: request !== null,
  });
  return (
    <Dialog
      open
      onOpenChange={(next) => !next && onClose()}
      title={families[family].deploy}
      description={families[family].deployAbout}
      footer={
        <>
          <Button onClick={onClose} className="mr-auto">
            Cancel
          </Button>
          {request ? (
            <DeployButton
              key={JSON.stringify(request)}
              request={request}
              licence={quote?.licence?.accepted_at === null ? quote.licence : null}
              accepted={accepted}
            />
          ) : (
            <Button variant="primary" disabled>
              <Rocket aria-hidden />
              Deploy
            </Button>
          )}
        </>
      }
    >
      <div className="flex flex-col gap-4">
        <KindField family={family} value={kind} onChange={chooseKind} />
        <AssetField
          types="MODEL"
          label="Model"
          failed="Your models could not be loaded"
          fits={fits}
          value={modelId}
          onChange={(id) => {
            chooseModel(id);
            setContextTokens(undefined);
            setAccepted(false);
          }}
          help={modelsNote}
        />
        <GpuField family={family} value={gpus} onChange={setGpus} />
        {request && <ContextField request={request} onChange={setContextTokens} />}
        {request && <Placement request={request} />}
        {quote?.licence && (
          <LicenceField licence={quote.licence} accepted={accepted} onChange={setAccepted} />
        )}
      </div>
    </Dialog>
  );
}

/** The selected model and kind. Without an initial kind, it follows from the model once that has loaded. */
function useChoice(family: Family, chosen: string | null, chosenKind: Kind | undefined) {
  const [firstKind = 'text', ...furtherKinds] = kindsOf(family);
  const [modelId, setModelId] = useState(chosen);
  const [wantedKind, setWantedKind] = useState(furtherKinds.length === 0 ? firstKind : chosenKind);
  const model = useQuery({ ...assetQuery(modelId ?? ''), enabled: modelId !== null });
  const kind = wantedKind ?? (model.data && kindFor(family, model.data)) ?? firstKind;
  return {
    kind,
    modelId,
    isKnown: wantedKind !== undefined || !model.isPending,
    chooseKind: (next: Kind) => {
      setWantedKind(next);
      // Clear a model that does not fit the kind: the server would reject it.
      if (model.data && !kindRow(next).fits(model.data)) setModelId(null);
    },
    chooseModel: (id: string | null) => {
      setWantedKind(kind);
      setModelId(id);
    },
  };
}

type KindProps = { family: Family; value: Kind; onChange: (kind: Kind) => void };

/** Renders only if the family has several kinds. */
function KindField({ family, ...field }: KindProps) {
  const kinds = kindsOf(family);
  if (kinds.length < 2) return null;
  const options = kinds.map((value) => {
    const { label, does } = kindRow(value);
    return { value, label, description: does };
  });
  return <RadioCards aria-label="Kind" columns={3} options={options} {...field} />;
}

/** Shows where the model will run and when it costs. Renders nothing on an error, which the button shows. */
function Placement({ request }: { request: DeploymentRequest }) {
  const { data: quote, isError } = useQuery(quoteQuery(request, useUser().id));
  if (!quote)
    return isError ? null : (
      <LoadingRegion>
        <Skeleton className="h-5 w-56" />
      </LoadingRegion>
    );
  return (
    <p className="text-compact text-muted leading-5">
      {quote.device !== 'CPU' && `Runs on: ${deviceName(quote.device)}. `}You pay for the time it is awake
      <OutputPrice kind={request.kind} />. {sleepSentence(quote.sleeps_after_minutes)}
    </p>
  );
}
