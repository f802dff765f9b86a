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
  const kind = media.mimetype.split('/')[0]
  if (kind === 'image' || kind === 'video' || kind === 'audio') return { type: kind, mediaId: media.mediaId }
  return { type: 'document', mediaId: media.mediaId, fileName: file.name }
}
