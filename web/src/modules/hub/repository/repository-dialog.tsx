import {
  HUB_FILES_SHOWN_MAX,
  type HubRepositoryDetails,
  type RepoType,
} from '@bakehouse/contract/hub/public';
import { formatBytes } from '@bakehouse/contract/labels';
import { useQuery } from '@tanstack/react-query';
import { CloudDownload } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { formatNumber } from '../../../lib/format/format-number.ts';
import { countOf } from '../../../lib/format/words.ts';
import { Badge, TagBadge } from '../../../ui/badge.tsx';
import { Button, ButtonLink } from '../../../ui/button.tsx';
import { Callout } from '../../../ui/callout.tsx';
import { Dialog } from '../../../ui/dialog.tsx';
import { Disclosure } from '../../../ui/disclosure.tsx';
import { EmptyState } from '../../../ui/empty-state.tsx';
import { Field } from '../../../ui/field.tsx';
import { Figure } from '../../../ui/figure.tsx';
import { Input } from '../../../ui/input.tsx';
import { errorMessage } from '../../../ui/notify.ts';
import { QueryView } from '../../../ui/query-view.tsx';
import { RelativeTime } from '../../../ui/relative-time.tsx';
import { Skeleton } from '../../../ui/skeleton.tsx';
import { useForm } from '../../../ui/use-form.ts';
import { useUser } from '../../accounts/session.ts';
import { useStartClone } from '../clones/clone-calls.ts';
import { repositoryQuery, useDeleteToken, useHubToken, useSaveToken } from './hub-calls.ts';

const TAGS_SHOWN = 6;
const FORM_ID = 'hub-token';

type Props = {
  type: RepoType;
  id: string;
  onClose: () => void;
  /** Called once it has started. */
  onCloning: () => void;
};

/** A hub repository, with a button to clone it. */
export function RepositoryDialog({ type, id, onClose, onCloning }: Props) {
  const [savesToken, setSavesToken] = useState(false);
  const repository = useQuery(repositoryQuery(useUser().id, type, id));
  const start = useStartClone(type);
  const begin = (found: HubRepositoryDetails) =>
    start.mutate(
      { repoId: found.repo_id, datasetType: type === 'model' ? 'MODEL' : 'RAW' },
      { onSuccess: onCloning },
    );
  const found = repository.data;
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      size="lg"
      title={id}
      description={type === 'model' ? 'A model on the public hub' : 'A dataset on the public hub'}
      footer={
        <>
          {found?.cloned_asset_id && (
            <ButtonLink
              className="mr-auto"
              to={type === 'model' ? '/model/$id/description' : '/dataset/$id/description'}
              params={{ id: found.cloned_asset_id }}
            >
              Open your clone
            </ButtonLink>
          )}
          <Button onClick={onClose}>Close</Button>
          <Button
            variant="primary"
            disabled={!found || found.obstacle !== null}
            loading={start.isPending}
            onClick={() => found && begin(found)}
          >
            <CloudDownload aria-hidden />
            {found?.cloned_asset_id ? 'Clone again' : 'Clone'}
          </Button>
        </>
      }
    >
      <QueryView
        query={repository}
        failed="The repository could not be read"
        pending={<Pending />}
        missing={
          <EmptyState
            title="The hub has no such repository"
            description="It may be private, or have another name."
          />
        }
      >
        {(details) => (
          <RepositoryDetails
            details={details}
            tokenAction={
              <Button size="sm" onClick={() => setSavesToken(true)}>
                Access token
              </Button>
            }
          />
        )}
      </QueryView>
      {savesToken && <TokenDialog onClose={() => setSavesToken(false)} />}
    </Dialog>
  );
}

function Pending() {
  return (
    <div className="grid gap-5" aria-busy>
      <Skeleton className="h-10" />
      <Skeleton className="h-16" />
      <Skeleton className="h-11" />
    </div>
  );
}

type RepositoryDetailsProps = {
  details: HubRepositoryDetails;
  /** A button to enter an access token. */
  tokenAction: ReactNode;
};

/** Contents and size of a clone, and its possible uses here. */
function RepositoryDetails({ details, tokenAction }: RepositoryDetailsProps) {
  return (
    <div className="grid gap-5">
      {details.obstacle && (
        <Callout
          tone="bad"
          title="This repository cannot be cloned"
          action={details.gated ? tokenAction : undefined}
        >
          {details.obstacle}.
        </Callout>
      )}
      <dl className="grid grid-cols-2 gap-x-6 gap-y-4 sm:grid-cols-4">
        <Figure label="Licence" note={details.gated ? 'gated' : undefined}>
          {details.licence ?? 'Not stated'}
        </Figure>
        <Figure label="Files">{formatNumber(details.file_count)}</Figure>
        <Figure label="Size">{formatBytes(details.size_bytes)}</Figure>
        <Figure label="Space left" note={diskNote(details)}>
          {details.quota_left_bytes === null ? 'No limit' : formatBytes(details.quota_left_bytes)}
        </Figure>
      </dl>
      {details.deploy && details.train && (
        <dl className="grid gap-4 sm:grid-cols-2">
          <Use label="Deploy" use={details.deploy} can="Can run on" />
          <Use label="Fine-tune" use={details.train} can="Can be trained on" />
        </dl>
      )}
      {details.left_out.file_count > 0 && (
        <Callout>
          {countOf(details.left_out.file_count, 'file')} with {formatBytes(details.left_out.size_bytes)} will
          be skipped: pickle files whose weights the repository also has as safetensors.
        </Callout>
      )}
      <Files details={details} />
      {details.tags.length > 0 && (
        <div className="flex flex-wrap gap-1">
          {details.tags.slice(0, TAGS_SHOWN).map((tag) => (
            <TagBadge key={tag} tag={tag} />
          ))}
        </div>
      )}
    </div>
  );
}

function diskNote({ disk_left_bytes: left }: HubRepositoryDetails): string | undefined {
  return left === null ? undefined : `${formatBytes(left)} on the disk`;
}

type UseProps = { label: string; use: NonNullable<HubRepositoryDetails['deploy']>; can: string };

function Use({ label, use, can }: UseProps) {
  return (
    <div>
      <dt className="flex items-center gap-2 font-medium">
        {label}
        <Badge tone={use.device ? 'good' : 'neutral'}>{use.device ? 'Possible here' : 'Not here'}</Badge>
      </dt>
      <dd className="mt-1 text-[0.8125rem] text-muted [overflow-wrap:anywhere]">
        {use.device ? `${can} ${use.device}.` : `${use.obstacle}.`}
      </dd>
    </div>
  );
}

function Files({ details: { files, file_count, left_out } }: { details: HubRepositoryDetails }) {
  const all = file_count + left_out.file_count;
  return (
    <Disclosure title={`Files (${formatNumber(all)})`}>
      <ul className="max-h-64 overflow-y-auto text-[0.8125rem]" tabIndex={0} aria-label="Files">
        {files.map((file) => (
          <li key={file.path} className="flex items-baseline justify-between gap-4 py-0.5">
            <span className="min-w-0 font-mono text-xs [overflow-wrap:anywhere]">
              {file.path}
              {file.left_out && <span className="font-sans text-muted"> skipped</span>}
            </span>
            <span className="shrink-0 text-muted tabular-nums">{formatBytes(file.size_bytes)}</span>
          </li>
        ))}
      </ul>
      {all > HUB_FILES_SHOWN_MAX && (
        <p className="mt-2 text-[0.8125rem] text-muted">
          And {formatNumber(all - HUB_FILES_SHOWN_MAX)} more.
        </p>
      )}
    </Disclosure>
  );
}

/** Saves or deletes the user's access token for the public hub. */
export function TokenDialog({ onClose }: { onClose: () => void }) {
  const kept = useHubToken().data?.token ?? null;
  const save = useSaveToken();
  const forget = useDeleteToken();
  const { values, problems, change, isDirty, onSubmit, refuse } = useForm({
    initial: () => ({ token: '' }),
    problemsOf: ({ token }) => (token.trim() === '' ? { token: 'Enter an access token' } : {}),
    onSubmit: ({ token }) =>
      save.mutate(token.trim(), {
        onSuccess: onClose,
        onError: (error) => refuse({ token: errorMessage(error) }),
      }),
  });
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      dirty={isDirty && !save.isPending}
      title="Access token"
      description="For gated repositories: a read token from your hub settings. It is stored encrypted and never shown again."
      footer={
        <>
          {kept && (
            <Button
              className="mr-auto"
              loading={forget.isPending}
              onClick={() => forget.mutate(undefined, { onSuccess: onClose })}
            >
              Delete token
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button type="submit" form={FORM_ID} variant="primary" loading={save.isPending}>
            Save
          </Button>
        </>
      }
    >
      <form id={FORM_ID} noValidate onSubmit={onSubmit} className="grid gap-4">
        {kept && (
          <p>
            A token of <strong className="font-medium">{kept.account}</strong> is saved,{' '}
            <RelativeTime at={kept.saved_at} inSentence />. A new one replaces it.
          </p>
        )}
        <Field label="Token" error={problems.token}>
          <Input
            type="password"
            value={values.token}
            autoComplete="off"
            spellCheck={false}
            placeholder="hf_…"
            onChange={({ target }) => change({ token: target.value })}
          />
        </Field>
      </form>
    </Dialog>
  );
}
