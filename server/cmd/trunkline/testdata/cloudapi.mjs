// Sends all types of messages and a file with two libraries for Meta's Cloud API.
import assert from "node:assert/strict";
import Client from "@great-detail/whatsapp";
import { GraphApiError, WhatsAppClient } from "@kapso/whatsapp-cloud-api";

const [base, number] = process.argv.slice(2);
const to = "16505551234";
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
console.log("done");
