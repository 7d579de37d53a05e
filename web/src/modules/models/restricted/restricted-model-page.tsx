import type { RestrictedModel } from '@bakehouse/contract/restricted-models';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Badge, TagBadge } from '../../../ui/badge.tsx';
import { ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { MarkdownLines } from '../../../ui/markdown.tsx';
import { Missing } from '../../../ui/missing.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { AccessBadge } from './access-badge.tsx';
import { RequestAccessForm } from './request-access-form.tsx';
import { restrictedModelQuery } from './restricted-model-calls.ts';

const route = getRouteApi('/app/model/source/$id/description');

/** A restricted model: description and how to request access. */
export function RestrictedModelPage() {
  const { id } = route.useParams();
  const model = useQuery(restrictedModelQuery(id));
  return (
    <QueryView
      query={model}
      failed="This model cannot be shown"
      pending={
        <LoadingRegion>
          <Skeleton className="mb-2 h-4 w-24" />
          <Skeleton className="mb-8 h-7 w-64 max-w-full" />
          <Skeleton className="h-56 w-full rounded-xl" />
        </LoadingRegion>
      }
      missing={
        <Missing
          title="Model not found"
          text="The link may be mistyped, or the model was removed."
          to="/model"
          label="Go to My Models"
        />
      }
    >
      {(found) => <LoadedPage key={id} model={found} />}
    </QueryView>
  );
}

function LoadedPage({ model }: { model: RestrictedModel }) {
  const labels = [...new Set([model.family, ...model.tags].filter(Boolean))];
  return (
    <>
      <PageHeader
        title={model.name}
        parents={[
          { label: 'My Models', to: '/model' },
          { label: 'Restricted models', to: '/model/source' },
        ]}
        badge={<Badge tone="accent">Restricted model</Badge>}
      />
      <div className="-mt-3 mb-6 flex flex-col gap-3">
        <div className="flex items-center gap-1 font-mono text-compact text-muted">
          <span className="break-all">{model.id}</span>
          <CopyButton text={model.id} label="Copy the ID" />
        </div>
        {model.details && (
          <div className="text-muted">
            <MarkdownLines text={model.details} />
          </div>
        )}
        {labels.length > 0 && (
          <ul aria-label="Family and tags" className="flex flex-wrap gap-1.5">
            {labels.map((label) => (
              <li key={label} className="max-w-full">
                <TagBadge tag={label} />
              </li>
            ))}
          </ul>
        )}
      </div>
      <Card title="Access" actions={<AccessBadge access={model.access} />}>
        <Access model={model} />
      </Card>
    </>
  );
}

/** Explains the request's state and the next step. */
function Access({ model }: { model: RestrictedModel }) {
  switch (model.access) {
    case 'none':
      return (
        <>
          <p className="mb-4 max-w-prose text-muted">
            An operator decides who may use this model. {opens(model)}
          </p>
          <RequestAccessForm modelId={model.id} />
        </>
      );
    case 'requested':
      return (
        <p className="max-w-prose text-muted">
          You have requested access. You will be notified when an operator decides. {opens(model)}
        </p>
      );
    case 'granted':
      return model.dataset_id ? (
        <>
          <p className="mb-4 max-w-prose text-muted">
            You have access: you can download, deploy and fine-tune it.
          </p>
          <ButtonLink to="/model/$id/description" params={{ id: model.dataset_id }} variant="primary">
            Open the model
          </ButtonLink>
        </>
      ) : (
        <p className="max-w-prose text-muted">You have access. {opens(model)}</p>
      );
    case 'refused':
      return (
        <>
          <Callout tone="warn" title="An operator refused your request" className="mb-4">
            You can request access again if something has changed.
          </Callout>
          <RequestAccessForm modelId={model.id} label="Request again" />
        </>
      );
  }
}

/** Returns what access currently allows. */
function opens({ is_available }: RestrictedModel): string {
  return is_available
    ? 'Access lets you download, deploy and fine-tune it here.'
    : 'Its files are not on this server yet. Anyone with access can download, deploy and fine-tune it once they are.';
}
