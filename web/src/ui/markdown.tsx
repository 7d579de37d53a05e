import { lazy } from 'react';
import { LazyPart } from './boundary.tsx';
import { LoadingRegion, Skeleton } from './skeleton.tsx';

const MarkdownContent = lazy(() => import('./markdown-content.tsx'));
const GrowingMarkdown = lazy(async () => ({
  default: (await import('./markdown-content.tsx')).GrowingMarkdown,
}));

/** A card or README. Loads the renderer on first use and omits YAML front matter. */
export function Markdown({ text }: { text: string }) {
  return (
    <div className="prose-bakehouse">
      <LazyPart
        fallback={() => <PlainText text={text} />}
        pending={
          <LoadingRegion className="space-y-3">
            <Skeleton className="h-5 w-1/3" />
            <Skeleton className="h-4 w-full" />
            <Skeleton className="h-4 w-4/5" />
          </LoadingRegion>
        }
      >
        <MarkdownContent text={text} />
      </LazyPart>
    </div>
  );
}

/** User input or a model's answer: renders markdown and preserves line breaks. */
export function MarkdownLines({ text }: { text: string }) {
  return (
    <div className="prose-bakehouse [&_p]:whitespace-pre-line">
      <LazyPart pending={<PlainText text={text} />} fallback={() => <PlainText text={text} />}>
        <GrowingMarkdown text={text} />
      </LazyPart>
    </div>
  );
}

/** Fallback while the renderer loads or if it fails. */
function PlainText({ text }: { text: string }) {
  return (
    <p dir="auto" className="whitespace-pre-wrap">
      {text}
    </p>
  );
}
