import { makesVideos } from '@bakehouse/contract/generators';
import { getShared, type SharedGeneration } from '@bakehouse/contract/share-links';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { Sparkles } from 'lucide-react';
import { endpointQuery } from '../../../lib/api/endpoint-query.ts';
import { formatDateTime } from '../../../lib/format/format-time.ts';
import { ButtonLink } from '../../../ui/button.tsx';
import { Card } from '../../../ui/card.tsx';
import { CopyButton } from '../../../ui/copy-button.tsx';
import { Missing } from '../../../ui/missing.tsx';
import { PageHeader } from '../../../ui/page-header.tsx';
import { QueryView } from '../../../ui/query-view.tsx';
import { LoadingRegion, Skeleton } from '../../../ui/skeleton.tsx';
import { Frame } from '../view/frame.tsx';
import { isVideo, Media } from '../view/media.tsx';
import { VideoFacts } from '../view/video.tsx';

const route = getRouteApi('/public/share/$token');
const columnsClass = 'grid items-start gap-6 lg:grid-cols-[minmax(0,1fr)_minmax(0,22rem)]';

/** The public page behind a share link. */
export function SharedPage() {
  const { token } = route.useParams();
  return (
    <QueryView
      query={useQuery(endpointQuery(['shared', token], getShared, { params: { token } }))}
      failed="This page cannot be shown"
      pending={<PendingPage />}
      missing={
        <Missing
          title="This link does not work"
          text="It may be mistyped, or it is no longer shared."
          to="/dashboard"
          label="Go to Bakehouse"
        />
      }
    >
      {(shared) => <LoadedPage shared={shared} />}
    </QueryView>
  );
}

function LoadedPage({ shared }: { shared: SharedGeneration }) {
  const { generator, title, prompt, outputs, maker, created_at } = shared;
  const at = formatDateTime(new Date(created_at));
  return (
    <>
      <PageHeader
        title={`${title} ${makesVideos(generator) ? 'video' : 'picture'}`}
        description={maker === null ? at : `By ${maker} · ${at}`}
      />
      <div className={columnsClass}>
        <Outputs outputs={outputs} prompt={prompt} />
        <Card title="Prompt" actions={<CopyButton text={prompt} label="Copy prompt" />}>
          <p className="whitespace-pre-wrap [overflow-wrap:anywhere]">{prompt}</p>
          <ButtonLink to={`/${generator}`} search={{ prompt }} className="mt-4">
            <Sparkles aria-hidden />
            Make your own
          </ButtonLink>
        </Card>
      </div>
    </>
  );
}

/** Each at its own size, limited by the window. */
function Outputs({ outputs, prompt }: Pick<SharedGeneration, 'outputs' | 'prompt'>) {
  const nameOf = (index: number) =>
    outputs.length > 1 ? `${prompt}, ${index + 1} of ${outputs.length}` : prompt;
  return (
    <div className={outputs.length > 1 ? 'grid gap-3 sm:grid-cols-2' : 'grid gap-3'}>
      {outputs.map((output, index) => (
        <Frame key={output.id}>
          <Media
            media={output}
            alt={nameOf(index)}
            className="h-auto max-h-[min(40rem,80dvh)] w-full object-contain"
          />
          {isVideo(output) && (
            <VideoFacts video={output} className="border-line border-t bg-surface px-4 py-3" />
          )}
        </Frame>
      ))}
    </div>
  );
}

function PendingPage() {
  return (
    <LoadingRegion>
      <Skeleton className="mb-2 h-7 w-48 max-w-full" />
      <Skeleton className="mb-6 h-5 w-24" />
      <div className={columnsClass}>
        <Skeleton className="aspect-square max-h-160 w-full rounded-xl" />
        <Skeleton className="h-40 rounded-xl" />
      </div>
    </LoadingRegion>
  );
}
