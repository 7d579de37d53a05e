import { toFlatId } from '@bakehouse/contract/fields/flat-id';
import type { Generation } from '@bakehouse/contract/generations';
import { type OpenAiVideo, VIDEO_PREFIX } from '@bakehouse/contract/openai-videos';
import type { Video } from '@bakehouse/contract/videos';
import type { Context } from '../../../platform/context.ts';
import { videoSize } from '../../generations/generators/video-size.ts';
import { showVideos } from '../show-videos.ts';

/** Returns the caller's video generations in the format of OpenAI's API. */
export async function showOpenAiVideos(ctx: Context, generations: Generation[]): Promise<OpenAiVideo[]> {
  const videos = await showVideos(ctx, generations);
  return videos.map((video, at) => toOpenAiVideo(video, generations[at]?.ended_at ?? null));
}

function toOpenAiVideo(video: Video, endedAt: string | null): OpenAiVideo {
  const { id, model, prompt, created, duration, quality, aspect_ratio, choices, operation } = video;
  const [choice] = choices;
  const asked = videoSize({ quality, aspect_ratio });
  const isCompleted = operation.status === 'completed';
  const { width, height } = { width: choice?.width ?? asked.width, height: choice?.height ?? asked.height };
  return {
    id: toFlatId(VIDEO_PREFIX, id),
    object: 'video',
    ...{ model, prompt, created_at: created },
    status: operation.status === 'processing' ? 'in_progress' : operation.status,
    progress: choice?.progress_percentage ?? 0,
    completed_at: isCompleted && endedAt !== null ? Math.floor(Date.parse(endedAt) / 1000) : null,
    expires_at: null,
    seconds: String(Math.round(choice?.duration ?? duration)),
    size: `${width}x${height}`,
    error: choice?.error ? { code: errorCode(choice.finish_reason), message: choice.error } : null,
    remixed_from_video_id: null,
    ...{ has_audio: choice?.has_audio ?? null, served_by: video.served_by },
  };
}

function errorCode(reason: Video['choices'][number]['finish_reason']): string {
  return reason === 'content_filter' ? 'moderation_blocked' : 'generation_failed';
}
