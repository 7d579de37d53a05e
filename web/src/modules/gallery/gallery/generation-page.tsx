import type { Generation } from '@bakehouse/contract/generations';
import { makesVideos } from '@bakehouse/contract/generators';
import { generators } from '@bakehouse/contract/generators/table';
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Missing } from '../../../ui/missing.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { StatusBadge } from '../../../ui/status-badge.tsx';
import { GenerationActions } from '../actions/generation-actions.tsx';
import { EditTree } from '../edit-picture/edit-tree.tsx';
import { useGeneration } from '../generation-calls.ts';
import { ShareCard } from '../sharing/share-card.tsx';
import { ExpertWeights } from '../view/expert-weights.tsx';
import { GenerationFigures } from '../view/generation-figures.tsx';
import { generationParameters } from '../view/generation-parameters.ts';
import { GenerationPicture } from '../view/generation-picture.tsx';
import { StepButtons } from './step-buttons.tsx';

const route = getRouteApi('/app/gallery/$id');
const columnsClass = 'grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,22rem)]';

/** A generation's page: pictures, inputs and actions. */
export function GenerationPage() {
  const { id } = route.useParams();
  return (
    <QueryView
      query={useGeneration(id)}
      failed="This generation cannot be shown"
      pending={<PendingPage />}
      missing={
        <Missing
          title="Generation not found"
          text="It may have been deleted, the link may be mistyped, or it may belong to another account."
          to="/gallery"
          label="Go to the gallery"
        />
      }
    >
      {(generation) => <LoadedPage generation={generation} />}
    </QueryView>
  );
}

function PendingPage() {
  return (
    <LoadingRegion>
      <Skeleton className="mb-2 h-5 w-24" />
      <Skeleton className="mb-6 h-9 w-64 max-w-full" />
      <div className={columnsClass}>
        <Skeleton className="aspect-square max-h-128 w-full rounded-xl" />
        <Skeleton className="h-80 rounded-xl" />
      </div>
    </LoadingRegion>
  );
}

function LoadedPage({ generation }: { generation: Generation }) {
  const navigate = useNavigate();
  const { id, prompt, generator, title, state, expert_weights: weights, steps } = generation;
  return (
    <>
      <PageHeader
        title={`${title} ${makesVideos(generator) ? 'video' : 'picture'}`}
        parents={[{ label: 'Gallery', to: '/gallery' }]}
        badge={
          <>
            <StatusBadge status={state} moving={state === 'running' || undefined} />
            <StepButtons id={id} />
          </>
        }
        actions={
          <GenerationActions
            key={id}
            generation={generation}
            onDeleted={() => void navigate({ to: '/gallery', replace: true })}
            onRunAgain={(started) => void navigate({ to: '/gallery', search: { compare: [id, started.id] } })}
          />
        }
      />
      <div className={columnsClass}>
        <div className="grid gap-6">
          <GenerationPicture generation={generation} />
          {weights && weights.length > 0 && (
            <Card title="Experts">
              <ExpertWeights rows={weights} steps={steps} />
            </Card>
          )}
        </div>
        <div className="grid gap-6">
          <Card title="Prompt" actions={<CopyButton text={prompt} label="Copy prompt" />}>
            <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{prompt}</p>
          </Card>
          {state === 'completed' && <ShareCard id={id} noun={makesVideos(generator) ? 'video' : 'picture'} />}
          <Card title="Cost and time">
            <GenerationFigures generation={generation} />
          </Card>
          <Card title="Details">
            <MadeFrom generation={generation} />
          </Card>
          <EditTree generation={generation} />
        </div>
      </div>
    </>
  );
}

function MadeFrom({ generation }: { generation: Generation }) {
  const {
    generator,
    model,
    model_revision: generatedBy,
    provider,
    service,
    created_at,
    outputs,
  } = generation;
  const { parameters, lora_revision: lora } = generation;
  const [output] = outputs;
  return (
    <dl className="grid grid-cols-[auto_minmax(0,1fr)] gap-x-5 gap-y-1.5 text-compact">
      <Row label="Generator">
        <Link to={`/${generator}`} className="rounded text-accent-text hover:underline">
          {generators[generator].title}
        </Link>
      </Row>
      <Row label="Model">
        <span className="font-mono text-xs">{model}</span>
      </Row>
      {generatedBy && (
        <Row label="Version">
          <RevisionLink revision={generatedBy} />
        </Row>
      )}
      {parameters.lora && <Row label="LoRA">{lora ? <RevisionLink revision={lora} /> : 'since deleted'}</Row>}
      <Row label="Provider">{provider === 'own' ? 'this server' : (service ?? 'an external service')}</Row>
      {generationParameters(generation).map(({ name, value }) => (
        <Row key={name} label={name}>
          {value}
        </Row>
      ))}
      {output && (
        <Row label="Size">
          {output.width} × {output.height} pixels
        </Row>
      )}
      <Row label="Created">{formatDateTime(new Date(created_at))}</Row>
    </dl>
  );
}

function RevisionLink({ revision }: { revision: NonNullable<Generation['model_revision']> }) {
  return (
    <>
      <Link
        to="/model/$id/description"
        params={{ id: revision.asset_id }}
        className="rounded text-accent-text underline underline-offset-2"
      >
        {revision.title}
      </Link>
      , version {revision.number}
    </>
  );
}

function Row({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{label}</dt>
      <dd className="min-w-0 tabular-nums [overflow-wrap:anywhere]">{children}</dd>
    </>
  );
}
