import { type PointerEvent, useEffect, useRef, useState } from 'react';
import { formatNumber } from '../../../../lib/format/format-number.ts';
import { Skeleton } from '../../../../ui/skeleton.tsx';
import type { Source } from '../source.ts';
import { SourceImage } from '../source-image.tsx';
import {
  areaShare,
  type Point,
  paintArea,
  type SetShapes,
  type Shape,
  type Size,
  type Tool,
} from './mask-shapes.ts';

/** Painting a canvas with more pixels would be slow. */
const PIXELS_MAX = 2_000_000;

type Props = Omit<AreaProps, 'size'> & {
  source: Source;
  /** Null until the picture is loaded. */
  size: Size | null;
  onLoad: (size: Size) => void;
  onError: () => void;
};

/** The picture with the area on top, which a mouse, a pen or a finger paints. */
export function MaskCanvas({ source, size, onLoad, onError, ...area }: Props) {
  const ratio = size ? size.width / size.height : 4 / 3;
  return (
    <div
      className="relative mx-auto overflow-hidden rounded-lg bg-subtle"
      style={{ aspectRatio: ratio, width: `min(100%, ${50 * ratio}dvh)` }}
    >
      {!size && <Skeleton className="absolute inset-0" />}
      <SourceImage
        source={source}
        className="size-full"
        draggable={false}
        onLoad={({ currentTarget: { naturalWidth: width, naturalHeight: height } }) =>
          onLoad({ width, height })
        }
        onError={onError}
      />
      {size && <Area {...area} size={size} />}
    </div>
  );
}

type AreaProps = {
  size: Size;
  shapes: readonly Shape[];
  tool: Tool;
  /** Selected share of the picture. */
  share: number;
  setShapes: SetShapes;
  onShare: (share: number) => void;
};

function Area({ size, shapes, tool, share, setShapes, onShare }: AreaProps) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const { cursor, handlers } = useStrokes(size, tool, setShapes);
  const { feather } = tool;
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context) return;
    const { color } = getComputedStyle(context.canvas);
    context.fillStyle = color;
    context.strokeStyle = color;
    paintArea(context, shapes, { size, feather });
    onShare(areaShare(context));
  }, [size, shapes, feather, onShare]);
  const scale = Math.min(1, Math.sqrt(PIXELS_MAX / (size.width * size.height)));
  const percent = (length: number, whole: number) => `${(length / whole) * 100}%`;
  return (
    <>
      <canvas
        ref={canvas}
        role="img"
        aria-label={`Area to change: ${formatNumber(Math.round(share * 100))}% of the picture`}
        width={Math.max(1, Math.round(size.width * scale))}
        height={Math.max(1, Math.round(size.height * scale))}
        {...handlers}
        className="absolute inset-0 size-full cursor-crosshair touch-none text-bad opacity-70"
      />
      {cursor && (
        <span
          aria-hidden
          className="pointer-events-none absolute aspect-square -translate-1/2 rounded-full border border-white shadow-card"
          style={{
            left: percent(cursor.x, size.width),
            top: percent(cursor.y, size.height),
            width: percent(tool.thickness, size.width),
          }}
        />
      )}
    </>
  );
}

/** Adds strokes of one finger or the main button, and follows a pointer that hovers. */
function useStrokes(size: Size, { erases, thickness }: Tool, setShapes: SetShapes) {
  const isPainting = useRef(false);
  const [cursor, setCursor] = useState<Point | null>(null);
  const pointOf = ({ clientX, clientY, currentTarget }: PointerEvent): Point => {
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    return { x: ((clientX - left) / width) * size.width, y: ((clientY - top) / height) * size.height };
  };
  const end = () => {
    isPainting.current = false;
  };
  const handlers = {
    onPointerDown: (event: PointerEvent) => {
      if (event.button !== 0 || !event.isPrimary) return;
      event.currentTarget.setPointerCapture(event.pointerId);
      isPainting.current = true;
      const points = [pointOf(event)];
      setShapes((all) => [...all, { kind: 'stroke', erases, thickness, points }]);
    },
    onPointerMove: (event: PointerEvent) => {
      const point = pointOf(event);
      if (event.pointerType !== 'touch') setCursor(point);
      if (!isPainting.current || !event.isPrimary) return;
      setShapes((all) => {
        const last = all.at(-1);
        if (last?.kind !== 'stroke') return all;
        return [...all.slice(0, -1), { ...last, points: [...last.points, point] }];
      });
    },
    onPointerUp: end,
    onPointerCancel: end,
    onPointerLeave: () => setCursor(null),
  };
  return { cursor, handlers };
}
