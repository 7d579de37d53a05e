import type { Asset } from '@bakehouse/contract/assets';
import { isImageModel } from '@bakehouse/contract/deployments/pipelines';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { Activity, Code, Ellipsis, MessageSquare, PackageOpen, Rocket, Sparkles } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { queryClient } from '../../lib/api/query-client.ts';
import { cx } from '../../lib/cx.ts';
import { formatNumber } from '../../lib/format/format-number.ts';
import { useSheets } from '../../lib/sheet.ts';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { Card } from '../../ui/card.tsx';
import { EmptyState } from '../../ui/empty-state.tsx';
import { Menu, MenuItem, MenuLink } from '../../ui/menu.tsx';
import { StatusBadge } from '../../ui/status-badge.tsx';
import { Tabs } from '../../ui/tabs.tsx';
import { sessionQuery, useUser } from '../accounts/session.ts';
import { modelReadinessQuery } from '../datasets/asset-calls.ts';
import { AssetPage } from '../datasets/asset-page.tsx';
import { assetQuery } from '../datasets/asset-queries.ts';
import { AssetCard } from '../datasets/card/asset-card.tsx';
import { AssetFiles } from '../datasets/files/asset-files.tsx';
import { ModelFilesHelp } from '../datasets/files/model-files-help.tsx';
import { historyTab } from '../datasets/history/history-tab.tsx';
import { DeployButton } from '../deployments/deploy/deploy-button.tsx';
import { deploymentsOfQuery } from '../deployments/deployment-lists.ts';
import { StarterEmbedding } from '../deployments/details/starter-embedding.tsx';
import { useLiveDeployment } from '../deployments/use-deployments.ts';
import { ExportDialog } from '../fine-tuning/exports/export-dialog.tsx';
import { HeldOutAnswers } from '../fine-tuning/held-out/held-out-answers.tsx';
import { heldOutAnswersQuery } from '../fine-tuning/held-out/held-out-calls.ts';
import { runQuery, useRun } from '../fine-tuning/runs/run-queries.ts';
import { modelState } from '../fine-tuning/runs/run-state.ts';
import { unfinishedText } from '../fine-tuning/runs/unfinished/unfinished-model.ts';

/** Pipeline names are untrusted and may have any length. */
const PIPELINE_CHARS_MAX = 100;

const route = getRouteApi('/app/model/$id/description');

/** Reads a model and what determines the layout of its page. */
export async function readModel(id: string): Promise<void> {
  const [user, model] = await Promise.all([
    queryClient.ensureQueryData(sessionQuery),
    queryClient.ensureQueryData(assetQuery(id)),
  ]);
  if (!user) return;
  const run = unfinishedRun(model, user.id);
  await Promise.allSettled([
    queryClient.ensureQueryData(deploymentsOfQuery(user.id, id)),
    hasFiles(model) && queryClient.ensureQueryData(modelReadinessQuery(id)),
    run !== undefined && queryClient.ensureQueryData(runQuery(run)),
    // Determines the place of the card.
    model.user_id === user.id &&
      hasFiles(model) &&
      model.lineage &&
      queryClient.ensureQueryData(heldOutAnswersQuery(model.lineage.run_id)),
  ]);
}

export function ModelPage() {
  const { id } = route.useParams();
  const { tab = 'card', commit, folder } = route.useSearch();
  const navigate = route.useNavigate();
  const model = useQuery(assetQuery(id));
  const unfinished = useUnfinishedRun(model.data);
  const pod = useLiveDeployment(id);
  return (
    <AssetPage
      id={id}
      kind="model"
      badge={unfinished?.data && <StatusBadge status={modelState(unfinished.data)} />}
      actions={(asset) => <ModelActions asset={asset} pod={pod} />}
      more={(asset) => <MoreActions asset={asset} pod={pod} />}
      usedBy={
        pod && (
          <>
            It is deployed as <PodLink pod={pod} />. Terminate the deployment first.
          </>
        )
      }
    >
      {(asset, canChange) => (
        <Tabs
          value={tab}
          onChange={(next) => void navigate({ search: { tab: next }, replace: true })}
          tabs={[
            {
              value: 'card',
              label: 'Model card',
              content: (
                <>
                  {asset.starter_task === 'embedding' && <StarterEmbedding />}
                  {canChange && <OwnAnswers asset={asset} />}
                  <ModelCard asset={asset} canChange={canChange} />
                </>
              ),
            },
            {
              value: 'files',
              label: `Files (${formatNumber(asset.file_count)})`,
              content: <ModelFiles asset={asset} canChange={canChange} />,
            },
            historyTab(
              asset,
              { commit, folder },
              (next) => void navigate({ search: { tab: 'history', ...next }, resetScroll: false }),
            ),
          ]}
        />
      )}
    </AssetPage>
  );
}

const hasFiles = (asset: Asset | undefined) => asset !== undefined && asset.files.length > 0;

/** Returns the obstacles to deploying the model; not fetched for a model without files. */
function useReadiness(id: string, asset: Asset | undefined) {
  return useQuery({ ...modelReadinessQuery(id), enabled: hasFiles(asset) });
}

/** Returns the query for the run that produces the model; undefined once its files exist. */
function useUnfinishedRun(asset: Asset | undefined) {
  const user = useUser();
  const id = unfinishedRun(asset, user.id);
  const run = useRun(id ?? '', { enabled: id !== undefined });
  return id === undefined ? undefined : run;
}

/** Returns the id of the run that still has to write the model's files. */
function unfinishedRun(asset: Asset | undefined, userId: string): string | undefined {
  return asset?.file_count === 0 && asset.user_id === userId ? asset.lineage?.run_id : undefined;
}

type Pod = NonNullable<ReturnType<typeof useLiveDeployment>>;

function ModelActions({ asset, pod }: { asset: Asset; pod: Pod | undefined }) {
  const readiness = useReadiness(asset.dataset_id, asset);
  const sheets = useSheets();
  const user = useUser();
  const isOthers = !asset.is_starter && asset.user_id !== user.id;
  return (
    <>
      {(asset.source || asset.parent_dataset_id || isOthers) && readiness.data?.train === null && (
        <Button onClick={() => sheets.open('create-model', { baseModel: asset.dataset_id })}>
          <Sparkles aria-hidden />
          Fine-tune
        </Button>
      )}
      {pod && (
        <ButtonLink to="/my-deployments/$podId" params={{ podId: pod.pod_id }} variant="primary">
          {pod.task === 'embedding' ? <Code aria-hidden /> : <MessageSquare aria-hidden />}
          {pod.task === 'embedding' ? 'Use from code' : 'Chat'}
        </ButtonLink>
      )}
      {isImageModel(asset.pipeline) ? (
        <ButtonLink to="/my-deployments/images" search={{ deploy: asset.dataset_id }}>
          <Rocket aria-hidden />
          Deploy as a picture model
        </ButtonLink>
      ) : asset.pipeline !== null ? (
        <p className="max-w-xs text-compact text-muted [overflow-wrap:anywhere]">
          Only FLUX, FLUX Kontext, Paris and Wan models can be deployed for pictures or videos; this one is
          for {asset.pipeline.slice(0, PIPELINE_CHARS_MAX)}.
        </p>
      ) : (
        hasFiles(asset) &&
        !readiness.isPending &&
        !pod &&
        (readiness.data?.deploy == null ? (
          <DeployButton request={{ kind: 'text', modelId: asset.dataset_id }} />
        ) : (
          <p className="max-w-xs text-compact text-muted [overflow-wrap:anywhere]">
            {readiness.data.lora ? <LoraUse /> : `${readiness.data.deploy}.`}
          </p>
        ))
      )}
    </>
  );
}

/** Menu of less frequent actions. */
function MoreActions({ asset, pod }: { asset: Asset; pod: Pod | undefined }) {
  const [exporting, setExporting] = useState(false);
  const readiness = useReadiness(asset.dataset_id, asset).data;
  const lineage = asset.user_id === useUser().id ? asset.lineage : null;
  const { dataset_id: id } = asset;
  if (!lineage && !pod) return null;
  return (
    <>
      <Menu
        trigger={
          <Button size="icon" aria-label="More actions">
            <Ellipsis aria-hidden />
          </Button>
        }
      >
        {lineage && (
          <MenuLink to="/runs/$id" params={{ id: lineage.run_id }} icon={<Activity aria-hidden />}>
            Training run
          </MenuLink>
        )}
        {lineage && readiness && !readiness.lora && (
          <MenuItem icon={<PackageOpen aria-hidden />} onSelect={() => setExporting(true)}>
            Export
          </MenuItem>
        )}
        {pod && (
          <MenuLink to="/my-deployments" search={{ deploy: id }} icon={<Rocket aria-hidden />}>
            Deploy again
          </MenuLink>
        )}
      </Menu>
      {exporting && <ExportDialog modelId={id} onClose={() => setExporting(false)} />}
    </>
  );
}

function PodLink({ pod }: { pod: Pod }) {
  return (
    <Link
      to="/my-deployments/$podId"
      params={{ podId: pod.pod_id }}
      className="font-medium text-accent-text hover:underline [overflow-wrap:anywhere]"
    >
      {pod.model_name}
    </Link>
  );
}

/** Links to the generators that use a LoRA. */
function LoraUse() {
  const linkClass = 'rounded text-accent-text underline underline-offset-2';
  return (
    <>
      A LoRA for pictures: choose it in the settings of{' '}
      <Link to="/flux" className={linkClass}>
        FLUX.1
      </Link>{' '}
      or{' '}
      <Link to="/flux-kontext" className={linkClass}>
        FLUX.1 Kontext
      </Link>
      .
    </>
  );
}

function ModelFiles({ asset, canChange }: { asset: Asset; canChange: boolean }) {
  const run = useUnfinishedRun(asset)?.data;
  return (
    <AssetFiles
      asset={asset}
      // A fine-tune's files come only from its run.
      canChange={canChange && asset.lineage === null}
      hint="safetensors, GGUF, tokenizer and configuration files"
      help={<ModelFilesHelp />}
      empty={run && unfinishedText(run)}
    />
  );
}

/** Only for the run's owner: the rows are from their dataset. */
function OwnAnswers({ asset: { dataset_id: modelId, lineage, file_count } }: { asset: Asset }) {
  if (!lineage || file_count === 0) return null;
  return (
    <HeldOutAnswers
      runId={lineage.run_id}
      models={{ modelId, baseModelId: lineage.base_model?.dataset_id }}
      className="mb-5"
    />
  );
}

function ModelCard({ asset, canChange }: { asset: Asset; canChange: boolean }) {
  const { lineage } = asset;
  const run = useUnfinishedRun(asset)?.data;
  const madeFrom = lineage && (canChange || lineage.base_model || lineage.dataset) ? lineage : null;
  return (
    <div className={cx('grid gap-5', madeFrom && 'lg:grid-cols-[minmax(0,1fr)_18rem]')}>
      <AssetCard
        asset={asset}
        canChange={canChange}
        className="order-2 lg:order-1"
        empty={run && <EmptyState {...unfinishedText(run)} />}
      />
      {madeFrom && <MadeFrom lineage={madeFrom} hasRun={canChange} />}
    </div>
  );
}

type Lineage = NonNullable<Asset['lineage']>;

/** For another user's model, links only what the viewer can access; runs are private to their owner. */
function MadeFrom({ lineage, hasRun }: { lineage: Lineage; hasRun: boolean }) {
  const { base_model: base, dataset, run_id: run } = lineage;
  return (
    <Card title="Made from" className="order-1 self-start lg:order-2">
      <dl className="flex flex-col gap-3 [overflow-wrap:anywhere]">
        {base && (
          <Source label="Base model">
            <Link to="/model/$id/description" params={{ id: base.dataset_id }} className={sourceClass}>
              {base.title}
            </Link>
          </Source>
        )}
        {dataset && (
          <Source label="Dataset">
            <Link to="/dataset/$id/description" params={{ id: dataset.dataset_id }} className={sourceClass}>
              {dataset.title}
            </Link>
          </Source>
        )}
        {hasRun && (
          <Source label="Run">
            <Link to="/runs/$id" params={{ id: run }} className={sourceClass}>
              Curves, parameters and cost
            </Link>
          </Source>
        )}
      </dl>
    </Card>
  );
}

const sourceClass = 'font-medium text-accent-text hover:underline';

function Source({ label, children }: { label: string; children: ReactNode }) {
  return (
    <div>
      <dt className="text-muted text-xs">{label}</dt>
      <dd>{children}</dd>
    </div>
  );
}
