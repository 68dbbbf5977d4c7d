import * as pulumi from "@pulumi/pulumi";
import * as kubernetes from "@pulumi/kubernetes";
import * as platform from "@example/inference-platform";

const config = new pulumi.Config();
const cluster = new kubernetes.Provider("cluster", {
    kubeconfig: config.require("kubeconfig"),
    clusterIdentifier: config.require("clusterIdentifier"),
});
const qwen = new platform.OpenModel("qwen", {
    familyName: "qwen2",
    modelId: "Qwen/Qwen2-7B-Instruct",
    flavors: [{ name: "a10g", limits: { "nvidia.com/gpu": 1 }, params: { "INSTANCE-TYPE": "g5.2xlarge" } }],
}, { providers: [cluster] });
const chat = new platform.Playground("chat", {
    model: qwen.manifest,
    namespace: "models",
    replicas: 1,
    args: ["--max-model-len", "16384"],
}, { providers: [cluster] });
export const endpoint = chat.endpoint;
