import { api, got } from '../../api/client'

/** MediaContent is a file of ours as messages name it. */
export interface MediaContent {
  type: 'image' | 'video' | 'audio' | 'document'
  mediaId: string
  fileName?: string
}

/** upload keeps a file for a reference, and says as what it is sent. */
export async function upload(reference: number, file: File): Promise<MediaContent> {
  const form = new FormData()
  form.set('reference', String(reference))
  form.set('file', file)
  const media = await got(api.POST('/media', { body: form as never, bodySerializer: (body: unknown) => body as FormData }))
  const type = kindOf(media.mimetype)
  return { type, mediaId: media.mediaId, ...(type === 'document' ? { fileName: file.name } : {}) }
}

/** kindOf is as what a file of a type is sent. */
export function kindOf(mimetype: string): MediaContent['type'] {
  const kind = mimetype.split('/')[0]
  return kind === 'image' || kind === 'video' || kind === 'audio' ? kind : 'document'
}
