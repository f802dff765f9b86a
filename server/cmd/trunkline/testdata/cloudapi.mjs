// Sends all types of messages and a file with two libraries for Meta's Cloud API.
import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import Client from "@great-detail/whatsapp";
import { GraphApiError, WhatsAppClient } from "@kapso/whatsapp-cloud-api";
import { normalizeWebhook, verifySignature } from "@kapso/whatsapp-cloud-api/server";

const [base, number, port, appSecret] = process.argv.slice(2);
const to = "16505551234";

// The receiver of webhooks.
const written = Promise.withResolvers(); // the first message
const reported = Promise.withResolvers(); // the first status
const receiver = createServer(async (request, response) => {
  const rawBody = Buffer.concat(await request.toArray());
  response.end();
  if (!verifySignature({ appSecret, rawBody, signatureHeader: request.headers["x-hub-signature-256"] })) {
    written.reject(new Error("the signature is not valid"));
  }
  const events = normalizeWebhook(JSON.parse(rawBody.toString()));
  if (events.phoneNumberId !== number) {
    written.reject(new Error(`another number: ${events.phoneNumberId}`));
  }
  if (events.messages.length > 0) {
    written.resolve(events.messages[0]);
  }
  if (events.statuses.length > 0) {
    reported.resolve(events.statuses[0]);
  }
}).listen(Number(port), "127.0.0.1");
await once(receiver, "listening");
const png = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==", "base64");

const kapso = new WhatsAppClient({ baseUrl: base, accessToken: process.env.TOKEN });
const { messages } = kapso;
const at = { phoneNumberId: number, to };
const file = await kapso.media.upload({
  phoneNumberId: number, type: "image", file: new Blob([png], { type: "image/png" }), fileName: "dot.png",
});
const answers = [
  await messages.sendImage({ ...at, image: { id: file.id, caption: "A dot" } }),
  await messages.sendLocation({ ...at, location: { latitude: 1.5, longitude: 2, name: "Here", address: "Street 1" } }),
  await messages.sendContacts({ ...at, contacts: [{ name: { formattedName: "Bob", firstName: "Bob" }, phones: [{ phone: "+16505550000", type: "HOME" }] }] }),
  await messages.sendInteractiveButtons({ ...at, bodyText: "Pick one", buttons: [{ id: "a", title: "One" }, { id: "b", title: "Two" }] }),
  await messages.sendInteractiveList({
    ...at, bodyText: "Pick one", buttonText: "Open", sections: [{ title: "All", rows: [{ id: "a", title: "One", description: "The first" }] }],
  }),
];
for (const a of answers) {
  assert.equal(a.contacts[0].input, to);
  assert.ok(a.messages[0].id);
}
await messages.sendReaction({ ...at, reaction: { messageId: answers[0].messages[0].id, emoji: "👍" } });
const about = await kapso.media.get({ mediaId: file.id, phoneNumberId: number });
assert.equal(about.mimeType, "image/png");
assert.deepEqual(Buffer.from(await (await fetch(about.url)).arrayBuffer()), png);
await assert.rejects(messages.sendText({ ...at, to: "nobody at all", body: "Hi" }), (e) => e instanceof GraphApiError && e.code === 100);
const stranger = new WhatsAppClient({ baseUrl: base, accessToken: "no token" });
await assert.rejects(stranger.messages.sendText({ ...at, body: "Hi" }), (e) => e instanceof GraphApiError && e.code === 190);

const client = new Client({ prefixUrl: base, graphVersion: "v23.0/", request: { headers: { Authorization: `Bearer ${process.env.TOKEN}` } } });
const text = await client.message.createMessage({ phoneNumberID: number, to, type: "text", text: { body: "Hi" } }).json();
assert.equal(text.messaging_product, "whatsapp");
assert.deepEqual(text.contacts.map((c) => c.input), [to]);

// A contact writes: the webhook is Meta's.
const write = await fetch(`${base}/sandbox/${number}/messages`, {
  method: "POST", headers: { Authorization: `Bearer ${process.env.TOKEN}`, "Content-Type": "application/json" },
  body: JSON.stringify({ from: to, type: "text", text: "Is anybody there?" }),
});
assert.equal(write.status, 201);
assert.equal((await written.promise).id, (await write.json()).id);
assert.ok((await reported.promise).id);
receiver.close();
receiver.closeAllConnections();
console.log("done");
