/** kept is what an address says of the list, which stays when another chat is opened. */
export function kept(params: URLSearchParams): string {
  const next = new URLSearchParams(params)
  next.delete('message')
  next.delete('show')
  return next.size > 0 ? `?${next}` : ''
}
